import { setTimeout as sleep } from 'node:timers/promises';
import type { PubSub, Subscription } from '@countersign/bus';
import { BINDS } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { bindView } from '../admin/binds/bind.view.js';
import type { FrameId } from './client-frame.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { eventFrame, subscribedFrame } from './server-frame.js';
import { ChannelSubscription } from './channel-subscription.js';

/** What gateways publish when a connection of a bind changes, and what is published when an engineer changes a bind. */
const TOPICS = ['bind-status', 'binds'];
const CHANNEL = 'binds';
/** What the bus has lost is seen so much later. */
const LOOK_EVERY_MS = 10_000;
/** Changes of one moment are read together. */
const GATHER_MS = 100;
const PAGE = 100;
/** More binds than any operator has; those beyond are not shown. */
const MAX_PAGES = 20;

export interface BindStatusFeedOptions {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'nowMs' | 'newId'>;
  readonly bus: Pick<PubSub, 'subscribe'>;
  readonly onError: (error: unknown) => void;
}

type Subscriber = Pick<RealtimeConnection, 'send' | 'watch' | 'abandon'>;

/** All binds and how they are doing, for engineers who watch: a snapshot, then each bind whose picture has changed. */
export class BindStatusFeed {
  readonly #subscribers = new Set<ChannelSubscription>();
  readonly #subscriptions: Subscription[];
  readonly #looking: PollLoop;
  /** JSON text by bind, as it was told last; null while nobody watches. */
  #shown: Map<string, string> | null = null;

  constructor(private readonly o: BindStatusFeedOptions) {
    this.#looking = new PollLoop({ everyMs: LOOK_EVERY_MS, work: () => this.look(), onError: o.onError });
    this.#subscriptions = TOPICS.map((topic) =>
      o.bus.subscribe(topic, () => {
        if (this.#subscribers.size > 0) this.#looking.trigger();
      }),
    );
  }

  /** Rejects when the binds cannot be read; nothing is listened to then. */
  async subscribe(connection: Subscriber, id: FrameId): Promise<void> {
    const subscriber = new ChannelSubscription(connection, 'full');
    this.#subscribers.add(subscriber);
    const again = connection.watch(CHANNEL, () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#shown = null;
    });
    try {
      const binds = await this.read();
      this.#shown ??= binds;
      subscriber.join(subscribedFrame(id, CHANNEL, `[${[...binds.values()].join(',')}]`), null);
    } catch (error) {
      connection.abandon(CHANNEL, again);
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.close();
    await this.#looking.stop();
  }

  private async look(): Promise<boolean> {
    if (this.#subscribers.size === 0) return false;
    await sleep(GATHER_MS);
    const before = this.#shown;
    const binds = await this.read();
    // What was read before a snapshot is no news after it; and the snapshot may have been read before what is news.
    if (before === null || this.#shown !== before) return this.#subscribers.size > 0;
    this.#shown = binds;
    for (const [bind, text] of binds) if (before.get(bind) !== text) this.tell(text);
    return false;
  }

  private tell(data: string): void {
    const { clock } = this.o;
    const timestamp = new Date(clock.nowMs()).toISOString();
    const octets = eventFrame(CHANNEL, { id: renderId('evt', clock.newId()), event: 'bind.updated', timestamp, data });
    for (const subscriber of this.#subscribers) subscriber.tell({ ends: null, inView: () => octets });
  }

  /** As GET shows them, newest first. */
  private async read(): Promise<Map<string, string>> {
    const texts = new Map<string, string>();
    let startingAfter: string | null = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { rows, hasMore }: Awaited<ReturnType<typeof BINDS.list>> = await BINDS.list(this.o.database, {
        limit: PAGE,
        startingAfter,
        ownerId: null,
      });
      for (const row of rows) texts.set(row.id, JSON.stringify(bindView(row)));
      startingAfter = rows.at(-1)?.id ?? null;
      if (!hasMore) break;
    }
    return texts;
  }
}
