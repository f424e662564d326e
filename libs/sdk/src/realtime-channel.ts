import { isSessionEvent, liveEventOf, type LiveEvent, type SessionView } from './realtime-event.js';
import type { ClientMessage, EventFrame } from './realtime-frame.js';
import { RealtimeError } from './realtime-retry.js';

/** Your callbacks for one channel. */
export interface RealtimeListener<View extends SessionView = SessionView> {
  /**
   * The current session: once when the subscription starts, and again after every lost connection, so that nothing is
   * missed. Null on an account's channel, which has no state: events during a lost connection follow, unless `missed`
   * was called.
   */
  readonly snapshot?: (snapshot: View | null) => void;
  /**
   * An account's channel: more events than the service repeats were missed during a lost connection (10 minutes, 1,000
   * events). Read them with `list`; they also arrive as webhooks.
   */
  readonly missed?: () => void;
  /** Events from then on, each once. */
  readonly event?: (event: LiveEvent<View>) => void;
  /** The end of the channel: called once, and last. */
  readonly ended?: (error: RealtimeError) => void;
}

/** Repeated events are among this many latest ones. */
const REMEMBERED_EVENTS = 2_048;
/** The service repeats the events of account channels. */
const RESUMABLE = /^account:/;
/** An event that the service does not store, so nothing resumes after it. */
const NOT_STORED = 'verification.updated';

/** One channel with all its listeners: the state of its subscription, and the latest snapshot. */
export class RealtimeChannel<View extends SessionView> {
  readonly #listeners = new Set<RealtimeListener<View>>();
  readonly #isView: (value: unknown) => value is View;
  readonly #seen = new Set<string>();
  /** The latest stored event, after which a lost subscription resumes. */
  #resumeAfter: string | undefined;
  /** `asked` and `live` belong to one connection. */
  #state: 'idle' | 'asked' | 'live' | 'paused' = 'idle';
  #requestId = '';
  /** The latest snapshot; undefined before the first. */
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

  /** Without listeners, and unsubscribed at the service: it can be deleted. */
  get isOver(): boolean {
    return !this.isWanted && (this.#state === 'idle' || this.#state === 'paused');
  }

  isAskedBy(requestId: string | null): boolean {
    return this.#state === 'asked' && this.#requestId === requestId;
  }

  /** A listener that joins a live channel gets the latest snapshot. */
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

  /** The message to send to the service now, if any. */
  dueMessage(requestId: string): ClientMessage | null {
    const channel = this.name;
    if (this.isWanted && this.#state === 'idle') {
      const resumeAfter = RESUMABLE.test(channel) ? this.#resumeAfter : undefined;
      return { type: 'subscribe', id: requestId, channel, ...(resumeAfter === undefined ? {} : { resumeAfter }) };
    }
    const isSubscribed = this.#state === 'asked' || this.#state === 'live';
    return !this.isWanted && isSubscribed ? { type: 'unsubscribe', id: requestId, channel } : null;
  }

  /**
   * Records that a due message was sent. `onSilence` is called when a subscribe is not answered before the timeout.
   */
  recordSent(message: ClientMessage, withinMs: number, onSilence: () => void): void {
    clearTimeout(this.#timer);
    this.#requestId = message.id;
    this.#state = message.type === 'subscribe' ? 'asked' : 'idle';
    if (message.type === 'subscribe') this.#timer = setTimeout(onSilence, withinMs);
  }

  /** The connection is lost, and with it the subscription. */
  disconnected(): void {
    clearTimeout(this.#timer);
    this.#state = 'idle';
  }

  /** Temporarily refused: subscribes again after a pause. */
  pause(durationMs: number, onEnd: () => void): void {
    clearTimeout(this.#timer);
    this.#state = 'paused';
    this.#timer = setTimeout(() => {
      this.#state = 'idle';
      onEnd();
    }, durationMs);
  }

  /** The service cannot repeat the missed events; the subscription starts without them. */
  handleTooOld(): void {
    this.#resumeAfter = undefined;
    this.#notifyListeners((listener) => listener.missed?.());
  }

  /** False for a snapshot of another kind. The answer to an earlier request is ignored. */
  handleSubscribed(requestId: string | null, snapshot: unknown): boolean {
    if (!this.isAskedBy(requestId)) return true;
    if (snapshot !== null && !this.#isView(snapshot)) return false;
    clearTimeout(this.#timer);
    this.#state = 'live';
    this.#latest = snapshot;
    this.#notifyListeners((listener) => listener.snapshot?.(snapshot));
    return true;
  }

  handleEvent(frame: EventFrame): void {
    if (this.#seen.has(frame.id)) return;
    this.#rememberEvent(frame.id);
    if (frame.event !== NOT_STORED) this.#resumeAfter = frame.id;
    const event = liveEventOf(frame, this.#isView);
    // An account's channel has many sessions, none of which is its state.
    if (isSessionView(event) && this.name === `session:${event.data.id}` && !hasEnded(this.#latest))
      this.#latest = event.data;
    this.#notifyListeners((listener) => listener.event?.(event));
  }

  /** Ends the channel permanently. */
  end(error: RealtimeError): void {
    clearTimeout(this.#timer);
    this.#state = 'idle';
    this.#notifyListeners((listener) => listener.ended?.(error));
    this.#listeners.clear();
  }

  #rememberEvent(eventId: string): void {
    this.#seen.add(eventId);
    const [oldest] = this.#seen;
    if (this.#seen.size > REMEMBERED_EVENTS && oldest !== undefined) this.#seen.delete(oldest);
  }

  /** A listener that throws does not affect the others; its error is reported as unhandled. */
  #notifyListeners(how: (listener: RealtimeListener<View>) => void): void {
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

/** An ended session stays ended, whatever a late event contains. */
const hasEnded = (latest: SessionView | null | undefined): boolean =>
  latest !== null && latest !== undefined && latest.status !== 'pending';
