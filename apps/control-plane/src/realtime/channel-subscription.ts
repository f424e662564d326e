import type { SessionStatus } from '@countersign/session/rules';
import type { RealtimeConnection } from './realtime-connection.js';
import type { SessionView } from './session-view.js';

/** An event for subscribers: the same octets for all subscribers of one view. */
export interface Rendering {
  /** The status with which it ends a session; null when it ends none. */
  readonly ends: SessionStatus | null;
  /** Null when the view does not include the event. */
  readonly inView: (view: SessionView) => Buffer | null;
}

/** Events that are kept between subscribing and the snapshot; a session has fewer in that time. */
const MAX_HELD = 64;

/**
 * Whether a terminal event changes the status this subscriber last saw. A session ends once; but a session that was
 * read as expired may still be approved, by evidence committed just after that read.
 */
export function changesShownStatus(shown: SessionStatus | null, ends: SessionStatus | null): boolean {
  if (ends === null || shown === null || shown === 'pending') return true;
  return shown === 'expired' && ends !== 'expired';
}

/**
 * One connection on one channel. Events before its snapshot are held back, and then sent unless the snapshot shows
 * them.
 */
export class ChannelSubscription {
  #shown: SessionStatus | null = null;
  #held: Rendering[] | null = [];

  constructor(
    private readonly connection: Pick<RealtimeConnection, 'send'>,
    private readonly view: SessionView,
  ) {}

  /** Sends the snapshot and the held events. `shown` is the status in the snapshot; null without a status. */
  sendSnapshot(snapshot: string, shown: SessionStatus | null): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#shown = shown;
    this.connection.send(snapshot);
    for (const renderedEvent of held) this.deliver(renderedEvent);
  }

  deliver(renderedEvent: Rendering): void {
    if (this.#held !== null) {
      // A terminal event replaces the last held event if necessary: no later event repeats it.
      if (renderedEvent.ends !== null) this.#held.splice(MAX_HELD - 1, 1, renderedEvent);
      else if (this.#held.length < MAX_HELD) this.#held.push(renderedEvent);
      return;
    }
    if (!changesShownStatus(this.#shown, renderedEvent.ends)) return;
    const octets = renderedEvent.inView(this.view);
    if (octets === null) return;
    if (renderedEvent.ends !== null) this.#shown = renderedEvent.ends;
    this.connection.send(octets);
  }
}
