import type { EventFrame } from './realtime-frame.js';

/**
 * A resume starts this much before the latest event: events that different servers dispatch at the same time may arrive
 * in another order than that of their dispatch. Repeated events are dropped by their ids.
 */
const OVERLAP_MS = 5_000;
/** The maximum of events in the overlap: a fifth of those that the service repeats. */
const MAX_OVERLAP_EVENTS = 200;

/** The event after which a lost subscription to an account's channel resumes. */
export class ResumePosition {
  /** Oldest first: the event to resume after, and those received since. */
  readonly #events: { readonly id: string; readonly receivedMs: number }[] = [];

  /** `evt_…`; undefined before the first event. */
  get resumeAfter(): string | undefined {
    return this.#events[0]?.id;
  }

  /** Records a received event. The service does not store `verification.updated`, so nothing resumes after it. */
  record({ id, event }: Pick<EventFrame, 'id' | 'event'>, nowMs: number): void {
    if (event === 'verification.updated') return;
    this.#events.push({ id, receivedMs: nowMs });
    while (this.#events.length > MAX_OVERLAP_EVENTS || isBefore(this.#events[1], nowMs - OVERLAP_MS))
      this.#events.shift();
  }

  clear(): void {
    this.#events.length = 0;
  }
}

const isBefore = (event: { readonly receivedMs: number } | undefined, atMs: number): boolean =>
  event !== undefined && event.receivedMs <= atMs;
