import { EventStore, type EventType, showsSession } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { SessionRenderer, SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';

/** A delivery whose body is rendered from its event, or opened from its row. */
export interface DeliveryToRead {
  /** Of the delivery and of its event. */
  readonly id: Uuid;
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** JSON text of the event; left out where it was not read. */
  readonly data?: string;
  /** Null where the body was not rendered yet. */
  readonly bodySealed: Buffer | null;
}

/** A body as it is sent. */
export interface Body {
  readonly text: string;
  /** The sealed body to be written to the row; null where the row has it already. */
  readonly sealed: Buffer | null;
}

/** Renders and seals the body of a delivery once; all its attempts send the same octets. */
@Injectable()
export class DeliveryBodies {
  /** A body could not be rendered or opened, for want of a key for instance. Its delivery waits for the end of its lease. */
  private readonly onUnreadable: (error: unknown) => void;

  constructor(
    private readonly keys: ServerKeys,
    private readonly events: EventStore,
    private readonly sessions: SessionStore,
    private readonly renderer: SessionRenderer,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onUnreadable = failures.about('webhooks: reading the body of a delivery');
  }

  /** Bodies by delivery. Unreadable ones are reported and left out. */
  async readBodies(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Map<Uuid, Body>> {
    const unrendered = rows.filter(({ bodySealed }) => bodySealed === null);
    const [sessions, data] = await Promise.all([this.sessionsOf(tx, unrendered), this.dataOf(tx, unrendered)]);
    const bodies = new Map<Uuid, Body>();
    for (const row of rows) {
      try {
        const dataOfEvent = (): string | undefined => {
          const session = showsSession(row.type) ? sessions.get(row.sessionId) : undefined;
          return session === undefined ? data.get(row.id) : this.renderer.full(session);
        };
        bodies.set(
          row.id,
          row.bodySealed === null ? this.renderAndSeal(row, dataOfEvent()) : this.openBody(row.id, row.bodySealed),
        );
      } catch (error) {
        this.onUnreadable(error);
      }
    }
    return bodies;
  }

  private async sessionsOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Map<Uuid | null, Session>> {
    const ids = rows.flatMap(({ type, sessionId }) => (showsSession(type) && sessionId !== null ? [sessionId] : []));
    const found = await this.sessions.findMany(tx, [...new Set(ids)]);
    return new Map(found.map((session) => [session.id, session]));
  }

  private async dataOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<ReadonlyMap<Uuid, string>> {
    const others = rows.filter(({ type }) => !showsSession(type));
    const known = others.flatMap(({ id, data }) => (data === undefined ? [] : [[id, data] as const]));
    const unknown = others.filter(({ data }) => data === undefined).map(({ id }) => id);
    return new Map([...known, ...(await this.events.dataOf(tx, unknown))]);
  }

  private renderAndSeal(row: DeliveryToRead, data: string | undefined): Body {
    if (data === undefined) throw new Error('the session or the data of the event no longer exists');
    const text = renderBody(row, data);
    return { text, sealed: this.keys.seal('webhook-body', text, row.id) };
  }

  private openBody(id: Uuid, sealed: Buffer): Body {
    return { text: this.keys.open('webhook-body', sealed, id).toString('utf8'), sealed: null };
  }
}

/** The body of a webhook: the three members of Standard Webhooks. `data` is JSON text, inserted unchanged. */
export function renderBody(event: { readonly type: string; readonly occurredAt: Date }, data: string): string {
  return `{"type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}","data":${data}}`;
}
