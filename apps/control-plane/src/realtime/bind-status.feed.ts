import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminRole } from '@countersign/accounts/admin-keys';
import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { BINDS } from '@countersign/carriers/records';
import { renderId } from '@countersign/ids';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import { Inject, Injectable } from '@nestjs/common';
import { bindView, type BindAnswer } from '../admin/binds/bind.view.js';
import type { Plain } from '../admin/crud/plain.js';
import { withoutPersonInOptions } from '../admin/crud/submit-options.js';
import { OnStop } from '../composition/phases.js';
import { hasRight } from '../http/admin-policy.js';
import { FailureLog } from '../operations/failure-log.js';
import type { FrameId } from './client-frame.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { eventFrame, subscribedFrame } from './server-frame.js';
import type { SessionView } from './session-view.js';
import { ChannelSubscription } from './channel-subscription.js';

const CHANNEL = 'binds';
/** Interval of polling, which covers lost bus messages. */
const POLL_INTERVAL_MS = 10_000;
/** Changes within this time are read together. */
const GATHER_MS = 100;
const PAGE = 100;
/** 2,000 binds are more than any operator has; further ones are not shown. */
const MAX_PAGES = 20;

type Subscriber = Pick<RealtimeConnection, 'send' | 'addSubscription' | 'undoSubscribe'>;

/** A bind as JSON, for roles that see people's data and for others. */
interface BindTexts {
  readonly full: string;
  readonly masked: string;
}

type ShownBinds = ReadonlyMap<string, BindTexts>;

/** Sends the status of all binds to subscribed engineers: a snapshot, then each bind that changed. */
@Injectable()
export class BindStatusFeed {
  readonly #subscribers = new Set<ChannelSubscription>();
  readonly #subscriptions: Subscription[];
  readonly #polling: PollLoop;
  /** By bind, as last sent; null without subscribers. */
  #shown: ShownBinds | null = null;

  constructor(
    @Inject(Database) private readonly database: Executor,
    private readonly clock: DatabaseClock,
    @Inject(PubSub) bus: Pick<PubSub, 'subscribe'>,
    @Inject(FailureLog) failures: Pick<FailureLog, 'about'>,
  ) {
    const onError = failures.about('polling bind status');
    this.#polling = new PollLoop({ everyMs: POLL_INTERVAL_MS, work: () => this.pollBinds(), onError });
    this.#subscriptions = [TOPICS.bindStatus, TOPICS.binds].map((topic) =>
      bus.subscribe(topic, () => {
        if (this.#subscribers.size > 0) this.#polling.trigger();
      }),
    );
  }

  /** Rejects when the binds cannot be read; there is no subscription then. */
  async subscribe(connection: Subscriber, id: FrameId, role: AdminRole): Promise<void> {
    const view = hasRight(role, 'readPersonalData') ? 'full' : 'masked';
    const subscriber = new ChannelSubscription(connection, view);
    this.#subscribers.add(subscriber);
    const replaced = connection.addSubscription(CHANNEL, () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#shown = null;
    });
    try {
      const binds = await this.read();
      this.#shown ??= binds;
      subscriber.sendSnapshot(
        subscribedFrame(id, CHANNEL, `[${[...binds.values()].map((texts) => texts[view]).join(',')}]`),
        null,
      );
    } catch (error) {
      connection.undoSubscribe(CHANNEL, replaced);
      throw error;
    }
  }

  @OnStop('realtime')
  async stop(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.close();
    await this.#polling.stop();
  }

  private async pollBinds(): Promise<boolean> {
    if (this.#subscribers.size === 0) return false;
    await sleep(GATHER_MS);
    const before = this.#shown;
    const binds = await this.read();
    // A first subscriber came or the last one left while the binds were read: compare again in the next poll.
    if (before === null || this.#shown !== before) return this.#subscribers.size > 0;
    this.#shown = binds;
    for (const [bind, texts] of binds) if (before.get(bind)?.full !== texts.full) this.publishBind(texts);
    return false;
  }

  private publishBind({ full, masked }: BindTexts): void {
    const { clock } = this;
    const timestamp = new Date(clock.nowMs()).toISOString();
    const event = { id: renderId('evt', clock.newId()), event: 'bind.updated', timestamp } as const;
    const [whole, reduced] = [full, masked].map((data) => eventFrame(CHANNEL, { ...event, data }));
    const inView = (view: SessionView): Buffer | null => (view === 'full' ? whole : reduced) ?? null;
    for (const subscriber of this.#subscribers) subscriber.deliver({ ends: null, inView });
  }

  /** All binds as GET returns them, newest first. */
  private async read(): Promise<ShownBinds> {
    const texts = new Map<string, BindTexts>();
    let startingAfter: string | null = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { rows, hasMore }: Awaited<ReturnType<typeof BINDS.list>> = await BINDS.list(this.database, {
        limit: PAGE,
        startingAfter,
        ownerId: null,
      });
      for (const row of rows) texts.set(row.id, textsOf(bindView(row)));
      startingAfter = rows.at(-1)?.id ?? null;
      if (!hasMore) break;
    }
    return texts;
  }
}

/** Most binds have nothing to mask, and one text. */
function textsOf(bind: Plain<BindAnswer>): BindTexts {
  const full = JSON.stringify(bind);
  const reduced = withoutPersonInOptions(bind);
  return { full, masked: reduced === bind ? full : JSON.stringify(reduced) };
}
