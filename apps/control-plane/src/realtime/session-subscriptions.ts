import type { Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import type { RenderedEvent } from './rendered-event.js';
import type { ChannelSubscription } from './channel-subscription.js';

/** Interval of polling a pending session (contract, Realtime). */
const POLL_INTERVAL_MS = 10_000;
/** Broadcasts of ends arrive within this time, of expiries too, which are swept every second; later ones are lost. */
const LATE_MS = 2_000;
/** Delay before the next search for a missing event, as a share of the time since the end. */
const AGAIN_SHARE = 1 / 2;

interface SessionEntry {
  readonly subscriptions: Set<ChannelSubscription>;
  /** When its row is read again, by the database's clock; null when it needs no polling. */
  pollAtMs: number | null;
}

/** Subscriptions by session, and when each session is polled. */
export class SessionSubscriptions {
  readonly #sessionSubscriptions = new Map<Uuid, SessionEntry>();

  get size(): number {
    return this.#sessionSubscriptions.size;
  }

  has(id: Uuid): boolean {
    return this.#sessionSubscriptions.has(id);
  }

  add(id: Uuid, subscription: ChannelSubscription): void {
    const entry = this.#sessionSubscriptions.get(id);
    if (entry !== undefined) entry.subscriptions.add(subscription);
    else this.#sessionSubscriptions.set(id, { subscriptions: new Set([subscription]), pollAtMs: null });
  }

  remove(id: Uuid, subscription: ChannelSubscription): void {
    const entry = this.#sessionSubscriptions.get(id);
    entry?.subscriptions.delete(subscription);
    if (entry?.subscriptions.size === 0) this.#sessionSubscriptions.delete(id);
  }

  /**
   * Records a read of the session and schedules the next while it is pending. True when it ended so long ago that its
   * broadcast must be lost: the poller then searches for its event.
   */
  noteRead(session: Session, nowMs: number): boolean {
    const entry = this.#sessionSubscriptions.get(session.id);
    if (entry === undefined) return false;
    if (session.status === 'pending') {
      entry.pollAtMs = Math.min(nowMs + POLL_INTERVAL_MS, session.expiresAt.getTime());
      return false;
    }
    // Its event was published during the read.
    if (entry.pollAtMs === null) return false;
    const endedMs = session.endedAt?.getTime() ?? nowMs;
    const agoMs = nowMs - endedMs;
    const isLate = agoMs >= LATE_MS;
    entry.pollAtMs = isLate ? nowMs + Math.min(agoMs * AGAIN_SHARE, POLL_INTERVAL_MS) : endedMs + LATE_MS;
    return isLate;
  }

  /** Stops polling of a session: its end was published, or it does not exist. */
  stopPolling(id: Uuid): void {
    const entry = this.#sessionSubscriptions.get(id);
    if (entry !== undefined) entry.pollAtMs = null;
  }

  /** Sessions that are due for polling. */
  dueSessions(nowMs: number): Uuid[] {
    const ids: Uuid[] = [];
    for (const [id, { pollAtMs }] of this.#sessionSubscriptions)
      if (pollAtMs !== null && pollAtMs <= nowMs) ids.push(id);
    return ids;
  }

  publishToSession(renderedEvent: RenderedEvent): void {
    const { sessionId } = renderedEvent.broadcast;
    const entry = sessionId === null ? undefined : this.#sessionSubscriptions.get(sessionId);
    if (entry === undefined) return;
    if (renderedEvent.ends !== null) entry.pollAtMs = null;
    for (const subscription of entry.subscriptions) subscription.deliver(renderedEvent);
  }
}
