import { EVENT_TYPES, EventStore, type DispatchCursor } from '@countersign/events';
import { firstIdAt, ID_CLOCK_SLACK_MS, lastIdAt } from '@countersign/ids';
import { isTestMode, tenantKey, tenantOf } from '@countersign/keys';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { AccountSubscriptions, type SubscribedTenant } from './account-subscriptions.js';

/** Events are read when they were dispatched so long ago: by then their transaction is over and their broadcast is received. */
const SETTLED_MS = 5_000;
/** Events that were written longer before are not read, as with `resumeAfter`. */
const WRITTEN_WITHIN_MS = 600_000;
/** Tenants in one statement, and events of each. */
const MAX_TENANTS = 200;
const MAX_EVENTS = 1_000;

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);
const LOWEST_ID = firstIdAt(0);

/**
 * Reads the events of subscribed accounts once more, some seconds after their dispatch, and finds those whose broadcast was lost:
 * the bus is a hint, the rows are authoritative.
 */
@Injectable()
export class MissedAccountEventPoller {
  /** How far the events of each tenant have been read, by `tenantKey`. */
  #cursors = new Map<string, DispatchCursor>();

  constructor(
    @Inject(Database) private readonly database: Executor,
    @Inject(DatabaseClock) private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly events: EventStore,
    private readonly subscriptions: AccountSubscriptions,
  ) {}

  /** The events that have not been published, in order of dispatch, and whether more can be read. */
  async poll(): Promise<{ readonly events: BroadcastEvent[]; readonly more: boolean }> {
    const untilMs = this.clock.nowMs() - SETTLED_MS;
    const tenants = this.subscriptions.tenants();
    this.#cursors = new Map(tenants.map((each) => [tenantKey(each.tenant), this.cursorOf(each)]));
    const due = [...this.#cursors.values()].filter(({ at }) => at.getTime() < untilMs);
    const found: BroadcastEvent[] = [];
    let more = false;
    for (let at = 0; at < due.length; at += MAX_TENANTS) {
      const set = await this.pollTenants(due.slice(at, at + MAX_TENANTS), untilMs);
      found.push(...set.events);
      more ||= set.more;
    }
    return { events: found, more };
  }

  private cursorOf({ tenant, sinceMs }: SubscribedTenant): DispatchCursor {
    const { accountId } = tenant;
    const start = { accountId, test: isTestMode(tenant), at: new Date(sinceMs), after: LOWEST_ID };
    return this.#cursors.get(tenantKey(tenant)) ?? start;
  }

  private async pollTenants(
    cursors: readonly DispatchCursor[],
    untilMs: number,
  ): Promise<{ readonly events: BroadcastEvent[]; readonly more: boolean }> {
    const until = new Date(untilMs);
    const low = firstIdAt(Math.min(...cursors.map(({ at }) => at.getTime())) - WRITTEN_WITHIN_MS);
    const bounds = { until, low, high: lastIdAt(untilMs + ID_CLOCK_SLACK_MS), limit: MAX_EVENTS };
    const rows = await this.events.findDispatchedUntil(this.database, cursors, bounds);
    const counts = new Map<string, number>();
    for (const cursor of cursors)
      this.#cursors.set(tenantKey(tenantOf(cursor)), { ...cursor, at: until, after: LOWEST_ID });
    for (const row of rows) {
      const key = tenantKey(tenantOf(row));
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const { accountId, test, dispatchedAt: at, id: after } = row;
      if (count === MAX_EVENTS) this.#cursors.set(key, { accountId, test, at, after });
    }
    const missed = rows.filter(({ id, type }) => TYPES.has(type) && !this.subscriptions.isPublished(id));
    return {
      events: missed.map(({ occurredAt, dispatchedAt: _, ...event }) => ({ ...event, at: occurredAt.toISOString() })),
      more: [...counts.values()].some((count) => count === MAX_EVENTS),
    };
  }
}
