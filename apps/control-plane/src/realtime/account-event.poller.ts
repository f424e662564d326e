import { EventStore, type DispatchedEvent, type DispatchSnapshot, type UnseenCursor } from '@countersign/events';
import { isTestMode, tenantKey, tenantOf, type Tenant } from '@countersign/keys';
import { Database, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { broadcastsOf, type BroadcastEvent } from '../events/event-broadcast.js';

/** Tenants in one statement, and events of each. */
const MAX_TENANTS = 200;
const MAX_EVENTS = 1_000;

/** A tenant whose events were read up to a snapshot. */
export interface ReadTenant {
  readonly tenant: Tenant;
  readonly seen: DispatchSnapshot;
}

/** Reads the dispatched events of tenants, each event once: those that a snapshot shows and the previous one does not. */
@Injectable()
export class AccountEventPoller {
  #latest: DispatchSnapshot | null = null;

  constructor(
    @Inject(Database) private readonly database: Executor,
    private readonly events: EventStore,
  ) {}

  async snapshot(): Promise<DispatchSnapshot> {
    this.#latest = await this.events.readSnapshot(this.database, this.#latest);
    return this.#latest;
  }

  /** Sets of events, those of each tenant in order of dispatch. */
  async *unseen(tenants: readonly ReadTenant[], until: DispatchSnapshot): AsyncGenerator<BroadcastEvent[]> {
    for (let at = 0; at < tenants.length; at += MAX_TENANTS) {
      let cursors = tenants.slice(at, at + MAX_TENANTS).map((each) => startOf(each, until));
      while (cursors.length > 0) {
        const rows = await this.events.findUnseen(this.database, cursors, until, MAX_EVENTS);
        yield broadcastsOf(rows);
        cursors = nextOf(cursors, rows);
      }
    }
  }
}

const startOf = ({ tenant, seen }: ReadTenant, until: DispatchSnapshot): UnseenCursor =>
  EventStore.unseenFrom({ accountId: tenant.accountId, test: isTestMode(tenant) }, seen, until);

/** The positions of the tenants that may have more events. */
function nextOf(cursors: readonly UnseenCursor[], rows: readonly DispatchedEvent[]): UnseenCursor[] {
  const read = new Map<string, { readonly count: number; readonly last: DispatchedEvent }>();
  for (const last of rows) {
    const key = tenantKey(tenantOf(last));
    read.set(key, { count: (read.get(key)?.count ?? 0) + 1, last });
  }
  return cursors.flatMap((cursor) => {
    const own = read.get(tenantKey(tenantOf(cursor)));
    if (own === undefined || own.count < MAX_EVENTS) return [];
    return { ...cursor, at: own.last.dispatchedAt, after: own.last.id };
  });
}
