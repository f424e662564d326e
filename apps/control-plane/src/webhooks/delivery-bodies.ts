import { type EventStore, type EventType, showsSession } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { EventRefused, type EventFault } from '../events/event-fault.js';
import { AccountUrls, type UrlClaim } from './account-urls.js';
import { disagreement } from './event-agreement.js';

/** A delivery whose body is rendered from its event, or opened from its row. */
export interface DeliveryToRead {
  /** Of the delivery and of its event. */
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly url: string;
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** JSON text of the event; left out where it was not read. */
  readonly data?: string | null;
  /** Null where the body was not rendered yet. */
  readonly bodySealed: Buffer | null;
}

/** Bodies by delivery, and the deliveries that must not be sent. Those without a readable body are in neither. */
export interface Bodies {
  readonly bodies: ReadonlyMap<Uuid, Body>;
  readonly refused: ReadonlySet<Uuid>;
}

/** A body as it is sent. */
export interface Body {
  readonly text: string;
  /** The sealed body to be written to the row; null where the row has it already. */
  readonly sealed: Buffer | null;
}

export interface DeliveryBodiesOptions {
  readonly keys: Pick<ServerKeys, 'seal' | 'open'>;
  readonly events: Pick<EventStore, 'dataOf'>;
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly renderer: Pick<SessionRenderer, 'full'>;
  /** A body could not be rendered or opened, for want of a key for instance. */
  readonly onUnreadable: (id: Uuid, error: unknown) => void;
  /** The event of a delivery contradicts its session. Must not throw. */
  readonly onRefused: (refused: EventRefused) => void;
}

/**
 * Renders and seals the body of a delivery once; all its attempts send the same octets. Events are written by gateways, too:
 * a body is rendered only for a URL, an account and a mode that the rows of control planes confirm.
 */
export class DeliveryBodies {
  private readonly accountUrls = new AccountUrls();

  constructor(private readonly options: DeliveryBodiesOptions) {}

  /** Unreadable and refused ones are reported. */
  async readBodies(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Bodies> {
    const unrendered = rows.filter(({ bodySealed }) => bodySealed === null);
    const [sessions, data] = await Promise.all([this.sessionsOf(tx, unrendered), this.dataOf(tx, unrendered)]);
    const refused = await this.refuse(tx, unrendered, sessions);
    const bodies = new Map<Uuid, Body>();
    for (const row of rows) {
      if (refused.has(row.id)) continue;
      try {
        const dataOfEvent = (): string | undefined => {
          const session = showsSession(row.type) ? sessions.get(row.sessionId) : undefined;
          return session === undefined ? data.get(row.id) : this.options.renderer.full(session);
        };
        bodies.set(
          row.id,
          row.bodySealed === null ? this.renderAndSeal(row, dataOfEvent()) : this.openBody(row.id, row.bodySealed),
        );
      } catch (error) {
        this.options.onUnreadable(row.id, error);
      }
    }
    return { bodies, refused };
  }

  private async refuse(
    tx: Executor,
    rows: readonly DeliveryToRead[],
    sessions: ReadonlyMap<Uuid | null, Session>,
  ): Promise<ReadonlySet<Uuid>> {
    const faults = new Map<Uuid, EventFault>();
    const claims: UrlClaim[] = [];
    for (const row of rows) {
      // Only tests of an account have a delivery, and Outbox lets no other process write them.
      if (row.sessionId === null) continue;
      const session = sessions.get(row.sessionId);
      const fault = session === undefined ? 'session' : disagreement(row, session);
      if (session !== undefined && fault === 'account_url') claims.push(claimOf(row, session));
      else if (fault !== null && fault !== 'account_url') faults.set(row.id, fault);
    }
    for (const id of await this.accountUrls.findWrong(tx, claims)) faults.set(id, 'url');
    for (const [id, fault] of faults) this.options.onRefused(new EventRefused(id, fault));
    return new Set(faults.keys());
  }

  private async sessionsOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Map<Uuid | null, Session>> {
    const ids = rows.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]));
    const found = await this.options.sessions.findMany(tx, [...new Set(ids)]);
    return new Map(found.map((session) => [session.id, session]));
  }

  private async dataOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<ReadonlyMap<Uuid, string>> {
    const others = rows.filter(({ type }) => !showsSession(type));
    const known = others.flatMap(({ id, data }) => (data === undefined || data === null ? [] : [[id, data] as const]));
    const unknown = others.filter(({ data }) => data === undefined).map(({ id }) => id);
    return new Map([...known, ...(await this.options.events.dataOf(tx, unknown))]);
  }

  private renderAndSeal(row: DeliveryToRead, data: string | undefined): Body {
    if (data === undefined) throw new Error('the data of the event no longer exists');
    const text = renderBody(row, data);
    return { text, sealed: this.options.keys.seal('webhook-body', text, row.id) };
  }

  private openBody(id: Uuid, sealed: Buffer): Body {
    return { text: this.options.keys.open('webhook-body', sealed, id).toString('utf8'), sealed: null };
  }
}

const claimOf = ({ id, accountId, test, url }: DeliveryToRead, { createdAt }: Session): UrlClaim => ({
  ...{ id, accountId, test, url },
  sessionCreatedAt: createdAt,
});

/** The body of a webhook: the three members of Standard Webhooks. `data` is JSON text, inserted unchanged. */
export function renderBody(event: { readonly type: string; readonly occurredAt: Date }, data: string): string {
  return `{"type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}","data":${data}}`;
}
