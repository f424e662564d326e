import { EventStore, type EventType, showsSession } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { Inject, Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { BodyRenderer, type Body } from './body-renderer.js';
import { EventAgreement } from './event-agreement.js';

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

/** Bodies by delivery, the deliveries that must not be sent, and those without a readable body. */
export interface Bodies {
  readonly bodies: ReadonlyMap<Uuid, Body>;
  readonly refused: ReadonlySet<Uuid>;
  readonly unreadable: ReadonlySet<Uuid>;
}

/**
 * Renders and seals the body of a delivery once; all its attempts send the same octets. Events are written by gateways, too:
 * a body is rendered only for a URL, an account and a mode that the rows of control planes confirm.
 */
@Injectable()
export class DeliveryBodies {
  /** A body could not be rendered or opened, for want of a key for instance. Its delivery waits for the end of its lease. */
  private readonly onUnreadable: (error: unknown) => void;

  constructor(
    private readonly events: EventStore,
    private readonly sessions: SessionStore,
    private readonly renderer: BodyRenderer,
    private readonly agreement: EventAgreement,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    this.onUnreadable = failures.about('webhooks: reading the body of a delivery');
  }

  /** Unreadable and refused ones are reported. */
  async readBodies(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Bodies> {
    const unrendered = rows.filter(({ bodySealed }) => bodySealed === null);
    const [sessions, data] = await Promise.all([this.sessionsOf(tx, unrendered), this.dataOf(tx, unrendered)]);
    const refused = await this.agreement.refuse(tx, unrendered, sessions);
    const bodies = new Map<Uuid, Body>();
    const unreadable = new Set<Uuid>();
    for (const row of rows) {
      if (refused.has(row.id)) continue;
      try {
        const dataOfEvent = (): string | undefined => {
          const session = showsSession(row.type) ? sessions.get(row.sessionId) : undefined;
          return session === undefined ? data.get(row.id) : this.renderer.dataOf(session);
        };
        bodies.set(
          row.id,
          row.bodySealed === null
            ? this.renderer.renderAndSeal(row, dataOfEvent())
            : this.renderer.open(row.id, row.bodySealed),
        );
      } catch (error) {
        unreadable.add(row.id);
        this.onUnreadable(error);
      }
    }
    return { bodies, refused, unreadable };
  }

  private async sessionsOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<Map<Uuid | null, Session>> {
    const ids = rows.flatMap(({ sessionId }) => (sessionId === null ? [] : [sessionId]));
    const found = await this.sessions.findMany(tx, [...new Set(ids)]);
    return new Map(found.map((session) => [session.id, session]));
  }

  private async dataOf(tx: Executor, rows: readonly DeliveryToRead[]): Promise<ReadonlyMap<Uuid, string>> {
    const others = rows.filter(({ type }) => !showsSession(type));
    const known = others.flatMap(({ id, data }) => (data === undefined || data === null ? [] : [[id, data] as const]));
    const unknown = others.filter(({ data }) => data === undefined).map(({ id }) => id);
    return new Map([...known, ...(await this.events.dataOf(tx, unknown))]);
  }
}
