import type { SessionStatus } from '@countersign/session/rules';
import type { RealtimeConnection } from './realtime-connection.js';
import type { SessionView } from './session-view.js';

/** An event on its way to who listens: the same octets for all of one view. */
export interface Rendering {
  /** What it ends a session as; null where it ends none. */
  readonly ends: SessionStatus | null;
  /** Null where the view has no part in it. */
  readonly inView: (view: SessionView) => Buffer | null;
}

/** What comes in between joining and the snapshot; more than this is not said of one session in that time. */
const MAX_HELD = 64;

/**
 * Whether an end is news to who was shown a status. A session ends once; but one that was read as expired may have been
 * approved in time, by evidence whose commit came a moment after that reading.
 */
export function isNews(shown: SessionStatus | null, ends: SessionStatus | null): boolean {
  if (ends === null || shown === null || shown === 'pending') return true;
  return shown === 'expired' && ends !== 'expired';
}

/** One connection on one channel. What comes before its snapshot is held back, and then told where it is news. */
export class ChannelSubscription {
  #shown: SessionStatus | null = null;
  #held: Rendering[] | null = [];

  constructor(
    private readonly connection: Pick<RealtimeConnection, 'send'>,
    private readonly view: SessionView,
  ) {}

  /** Says the snapshot, and what was held back. `shown` is the status it shows; null where it shows none. */
  join(snapshot: string, shown: SessionStatus | null): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#shown = shown;
    this.connection.send(snapshot);
    for (const renderedEvent of held) this.tell(renderedEvent);
  }

  tell(renderedEvent: Rendering): void {
    if (this.#held !== null) {
      // An end takes the last place if it must: it is the one event that nothing repeats.
      if (renderedEvent.ends !== null) this.#held.splice(MAX_HELD - 1, 1, renderedEvent);
      else if (this.#held.length < MAX_HELD) this.#held.push(renderedEvent);
      return;
    }
    if (!isNews(this.#shown, renderedEvent.ends)) return;
    const octets = renderedEvent.inView(this.view);
    if (octets === null) return;
    if (renderedEvent.ends !== null) this.#shown = renderedEvent.ends;
    this.connection.send(octets);
  }
}
