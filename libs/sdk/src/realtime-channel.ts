import { isSessionEvent, liveEventOf, type LiveEvent, type SessionView } from './realtime-event.js';
import type { ClientMessage, EventFrame } from './realtime-frame.js';
import { RealtimeError } from './realtime-retry.js';

/** What you do with the news of one channel. */
export interface RealtimeListener<View extends SessionView = SessionView> {
  /**
   * The session as it is now: once when the subscription stands, and again after every time that the connection was
   * lost, so that nothing that happened meanwhile is missed. Null on an account's channel, which has no state: what
   * happened while the connection was away is to be asked for (`list`), or comes by webhook.
   */
  readonly snapshot?: (snapshot: View | null) => void;
  /** What happens from then on, each event once. */
  readonly event?: (event: LiveEvent<View>) => void;
  /** No more news: told once, and the last. */
  readonly ended?: (error: RealtimeError) => void;
}

/** Events that came twice are among the last few. */
const REMEMBERED_EVENTS = 256;

/** One channel with all who listen to it: what the service was asked, and what it said last. */
export class RealtimeChannel<View extends SessionView> {
  readonly #listeners = new Set<RealtimeListener<View>>();
  readonly #isView: (value: unknown) => value is View;
  readonly #seen = new Set<string>();
  /** `asked` and `live` belong to one connection. */
  #state: 'idle' | 'asked' | 'live' | 'paused' = 'idle';
  #requestId = '';
  /** The last thing known; undefined before the first snapshot. */
  #latest: View | null | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly name: string,
    isView: (value: unknown) => value is View,
  ) {
    this.#isView = isView;
  }

  get isWanted(): boolean {
    return this.#listeners.size > 0;
  }

  /** Nobody listens, and the service knows: it can be forgotten. */
  get isOver(): boolean {
    return !this.isWanted && (this.#state === 'idle' || this.#state === 'paused');
  }

  isAskedBy(requestId: string | null): boolean {
    return this.#state === 'asked' && this.#requestId === requestId;
  }

  /** Who joins a channel that is live already is told what is known of it. */
  join(listener: RealtimeListener<View>): void {
    this.#listeners.add(listener);
    if (this.#state !== 'live' || this.#latest === undefined) return;
    queueMicrotask(() => {
      if (this.#listeners.has(listener) && this.#latest !== undefined) listener.snapshot?.(this.#latest);
    });
  }

  leave(listener: RealtimeListener<View>): void {
    this.#listeners.delete(listener);
  }

  /** What is to be said to the service now, if anything. */
  due(requestId: string): ClientMessage | null {
    const channel = this.name;
    if (this.isWanted && this.#state === 'idle') return { type: 'subscribe', id: requestId, channel };
    const isHeard = this.#state === 'asked' || this.#state === 'live';
    return !this.isWanted && isHeard ? { type: 'unsubscribe', id: requestId, channel } : null;
  }

  /** What was due has gone out. `onSilence` is called when a subscribe gets no answer within the time. */
  sent(message: ClientMessage, withinMs: number, onSilence: () => void): void {
    clearTimeout(this.#timer);
    this.#requestId = message.id;
    this.#state = message.type === 'subscribe' ? 'asked' : 'idle';
    if (message.type === 'subscribe') this.#timer = setTimeout(onSilence, withinMs);
  }

  /** The connection is gone, and with it what the service was asked. */
  disconnected(): void {
    clearTimeout(this.#timer);
    this.#state = 'idle';
  }

  /** Refused for now: asked again after a while. */
  pause(durationMs: number, onEnd: () => void): void {
    clearTimeout(this.#timer);
    this.#state = 'paused';
    this.#timer = setTimeout(() => {
      this.#state = 'idle';
      onEnd();
    }, durationMs);
  }

  /** False for a snapshot that is none of this kind. The answer to an earlier request says nothing about this one. */
  subscribed(requestId: string | null, snapshot: unknown): boolean {
    if (!this.isAskedBy(requestId)) return true;
    if (snapshot !== null && !this.#isView(snapshot)) return false;
    clearTimeout(this.#timer);
    this.#state = 'live';
    this.#latest = snapshot;
    this.#tell((listener) => listener.snapshot?.(snapshot));
    return true;
  }

  take(frame: EventFrame): void {
    if (this.#seen.has(frame.id)) return;
    this.#remember(frame.id);
    const event = liveEventOf(frame, this.#isView);
    // On an account's channel the sessions are many, and none of them is its state.
    if (isSessionView(event) && this.name === `session:${event.data.id}` && !hasEnded(this.#latest))
      this.#latest = event.data;
    this.#tell((listener) => listener.event?.(event));
  }

  /** For good. */
  end(error: RealtimeError): void {
    clearTimeout(this.#timer);
    this.#state = 'idle';
    this.#tell((listener) => listener.ended?.(error));
    this.#listeners.clear();
  }

  #remember(eventId: string): void {
    this.#seen.add(eventId);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED_EVENTS && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** One listener that throws keeps no other from hearing; its error goes where unhandled ones go. */
  #tell(how: (listener: RealtimeListener<View>) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        how(listener);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

function isSessionView<View extends SessionView>(
  event: LiveEvent<View>,
): event is Extract<LiveEvent<View>, { data: View }> {
  return isSessionEvent(event.type);
}

/** What has ended stays so, whatever a straggling event says. */
const hasEnded = (latest: SessionView | null | undefined): boolean =>
  latest !== null && latest !== undefined && latest.status !== 'pending';
