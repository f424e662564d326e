import { CLOSE } from './close-codes.js';
import type { RealtimeConnection } from './realtime-connection.js';
import type { Rendering } from './channel-subscription.js';
import type { SessionView } from './session-view.js';

/** Events that are kept while earlier ones are repeated; a reader that is slower than that is closed. */
const MAX_HELD = 1_000;
/** Octets of repeated events that are sent before the client has read them: a quarter of what closes a slow reader. */
const MAX_UNREAD_OCTETS = 256 * 1024;

/**
 * One connection on an account's channel that resumes: earlier events are repeated first, and those that are published
 * meanwhile follow. The client reads at its own pace until then.
 */
export class ResumedSubscription {
  #held: Rendering[] | null = [];
  #unreadOctets = 0;

  constructor(
    private readonly connection: Pick<RealtimeConnection, 'send' | 'sendAndFlush' | 'close' | 'open'>,
    private readonly view: SessionView,
  ) {}

  deliver(event: Rendering): void {
    if (this.#held === null) {
      const octets = event.inView(this.view);
      if (octets !== null) this.connection.send(octets);
    } else if (this.#held.length < MAX_HELD) this.#held.push(event);
    else this.connection.close(CLOSE.tooSlow);
  }

  /** Sends earlier events. Resolves once the client can take more. */
  async repeat(events: readonly Rendering[]): Promise<void> {
    for (const event of events) {
      if (!this.connection.open) return;
      const octets = event.inView(this.view);
      if (octets !== null) await this.send(octets);
    }
  }

  /** Sends the events held meanwhile; from then on events are sent as they are published. */
  async follow(): Promise<void> {
    for (let held = this.#held; held !== null && held.length > 0 && this.connection.open; held = this.#held) {
      this.#held = [];
      await this.repeat(held);
    }
    this.#held = null;
  }

  private async send(octets: Buffer): Promise<void> {
    this.#unreadOctets += octets.length;
    if (this.#unreadOctets < MAX_UNREAD_OCTETS) {
      this.connection.send(octets);
      return;
    }
    await this.connection.sendAndFlush(octets);
    this.#unreadOctets = 0;
  }
}
