import { type EventStore, type EventType, showsSession } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import type { SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';

/** What a body is made of, or opened from. */
export interface Bodied {
  /** Of the delivery and of its event. */
  readonly id: Uuid;
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** What the event's row says beside the session, where that is known already. */
  readonly data?: string;
  /** What the delivery's row holds; null where the body was not made yet. */
  readonly bodySealed: Buffer | null;
}

/** A body as it is sent, and as its row is to hold it: null where that holds it already. */
export interface Body {
  readonly text: string;
  readonly sealed: Buffer | null;
}

export interface DeliveryBodiesOptions {
  readonly keys: Pick<ServerKeys, 'seal' | 'open'>;
  readonly events: Pick<EventStore, 'dataOf'>;
  readonly sessions: Pick<SessionStore, 'findMany'>;
  readonly renderer: Pick<SessionRenderer, 'full'>;
  /** A body that cannot be made or opened, for want of a key for instance. The delivery waits; the others go on. */
  readonly onUnreadable: (id: Uuid, error: unknown) => void;
}

/** The octets of every attempt of a delivery: made and sealed once, and opened after that. */
export class DeliveryBodies {
  constructor(private readonly options: DeliveryBodiesOptions) {}

  /** By delivery; those that cannot be read are left out, and must not stop the rest. */
  async of(tx: Executor, rows: readonly Bodied[]): Promise<Map<Uuid, Body>> {
    const unmade = rows.filter(({ bodySealed }) => bodySealed === null);
    const [sessions, data] = await Promise.all([this.sessionsOf(tx, unmade), this.dataOf(tx, unmade)]);
    const bodies = new Map<Uuid, Body>();
    for (const row of rows) {
      try {
        const shown = (): string | undefined => {
          const session = showsSession(row.type) ? sessions.get(row.sessionId) : undefined;
          return session === undefined ? data.get(row.id) : this.options.renderer.full(session);
        };
        bodies.set(row.id, row.bodySealed === null ? this.made(row, shown()) : this.opened(row.id, row.bodySealed));
      } catch (error) {
        this.options.onUnreadable(row.id, error);
      }
    }
    return bodies;
  }

  private async sessionsOf(tx: Executor, rows: readonly Bodied[]): Promise<Map<Uuid | null, Session>> {
    const ids = rows.flatMap(({ type, sessionId }) => (showsSession(type) && sessionId !== null ? [sessionId] : []));
    const found = await this.options.sessions.findMany(tx, [...new Set(ids)]);
    return new Map(found.map((session) => [session.id, session]));
  }

  private async dataOf(tx: Executor, rows: readonly Bodied[]): Promise<ReadonlyMap<Uuid, string>> {
    const others = rows.filter(({ type }) => !showsSession(type));
    const known = others.flatMap(({ id, data }) => (data === undefined ? [] : [[id, data] as const]));
    const unknown = others.filter(({ data }) => data === undefined).map(({ id }) => id);
    return new Map([...known, ...(await this.options.events.dataOf(tx, unknown))]);
  }

  private made(row: Bodied, shown: string | undefined): Body {
    if (shown === undefined) throw new Error('what the event tells of is no longer there');
    const text = renderBody(row, shown);
    return { text, sealed: this.options.keys.seal('webhook-body', text, row.id) };
  }

  private opened(id: Uuid, sealed: Buffer): Body {
    return { text: this.options.keys.open('webhook-body', sealed, id).toString('utf8'), sealed: null };
  }
}

/** The body of a webhook: Standard Webhooks' three members. `data` is JSON text and goes in as it is. */
export function renderBody(event: { readonly type: string; readonly occurredAt: Date }, data: string): string {
  return `{"type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}","data":${data}}`;
}
