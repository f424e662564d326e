import type { Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import type { RenderedEvent } from './rendered-event.js';
import type { ChannelSubscription } from './channel-subscription.js';

/** Between two readings of a pending session (contract, Realtime). */
const LOOK_EVERY_MS = 10_000;
/** Word of an end comes within this time, of an expiry too, which is swept every second; later it is lost. */
const LATE_MS = 2_000;
/** What was looked for and not found is looked for again: the longer it is ago, the later. */
const AGAIN_SHARE = 1 / 2;

interface SessionEntry {
  readonly subscriptions: Set<ChannelSubscription>;
  /** When its row is read again, by the database's clock; null while nothing more is expected of it. */
  lookAtMs: number | null;
}

/** Who listens to which session, and which of those sessions are to be read again when. */
export class SessionSubscriptions {
  readonly #sessionSubscriptions = new Map<Uuid, SessionEntry>();

  get size(): number {
    return this.#sessionSubscriptions.size;
  }

  has(id: Uuid): boolean {
    return this.#sessionSubscriptions.has(id);
  }

  enter(id: Uuid, subscription: ChannelSubscription): void {
    const entry = this.#sessionSubscriptions.get(id);
    if (entry !== undefined) entry.subscriptions.add(subscription);
    else this.#sessionSubscriptions.set(id, { subscriptions: new Set([subscription]), lookAtMs: null });
  }

  leave(id: Uuid, subscription: ChannelSubscription): void {
    const entry = this.#sessionSubscriptions.get(id);
    entry?.subscriptions.delete(subscription);
    if (entry?.subscriptions.size === 0) this.#sessionSubscriptions.delete(id);
  }

  /**
   * A reading of the session: while it is pending there will be another. True when it has ended so long ago that word of
   * it is not on its way but lost: then its event is to be looked for.
   */
  noteRead(session: Session, nowMs: number): boolean {
    const entry = this.#sessionSubscriptions.get(session.id);
    if (entry === undefined) return false;
    if (session.status === 'pending') {
      entry.lookAtMs = Math.min(nowMs + LOOK_EVERY_MS, session.expiresAt.getTime());
      return false;
    }
    // Told while it was read.
    if (entry.lookAtMs === null) return false;
    const endedMs = session.endedAt?.getTime() ?? nowMs;
    const agoMs = nowMs - endedMs;
    const isLate = agoMs >= LATE_MS;
    entry.lookAtMs = isLate ? nowMs + Math.min(agoMs * AGAIN_SHARE, LOOK_EVERY_MS) : endedMs + LATE_MS;
    return isLate;
  }

  /** Nothing more is expected of a session: it has ended and that was told, or it is not there. */
  settle(id: Uuid): void {
    const entry = this.#sessionSubscriptions.get(id);
    if (entry !== undefined) entry.lookAtMs = null;
  }

  /** Sessions that are to be read again. */
  due(nowMs: number): Uuid[] {
    const ids: Uuid[] = [];
    for (const [id, { lookAtMs }] of this.#sessionSubscriptions)
      if (lookAtMs !== null && lookAtMs <= nowMs) ids.push(id);
    return ids;
  }

  tell(renderedEvent: RenderedEvent): void {
    const { sessionId } = renderedEvent.told;
    const entry = sessionId === null ? undefined : this.#sessionSubscriptions.get(sessionId);
    if (entry === undefined) return;
    if (renderedEvent.ends !== null) entry.lookAtMs = null;
    for (const subscription of entry.subscriptions) subscription.tell(renderedEvent);
  }
}
