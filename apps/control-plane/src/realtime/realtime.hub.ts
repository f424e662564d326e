import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@countersign/bus';
import { modeOf, MODES, tenantKey, type Mode, type Tenant } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { DatabaseClock } from '@countersign/postgres';
import { PollLoop } from '@countersign/schedule';
import type { SessionRenderer, SessionStore } from '@countersign/session';
import type { EventBroadcast, BroadcastEvent } from '../events/event-broadcast.js';
import { channelName } from './channel.js';
import type { FrameId } from './client-frame.js';
import type { MissedEventPoller } from './missed-event.poller.js';
import type { RealtimeConnection } from './realtime-connection.js';
import { subscribedFrame } from './server-frame.js';
import type { SessionSubscriptions } from './session-subscriptions.js';
import { withUpdates, type RenderedEvent, type EventLoader } from './rendered-event.js';
import { renderingOf, type SessionView } from './session-view.js';
import { ChannelSubscription } from './channel-subscription.js';

/** Told events that wait to be read; while the database is away the oldest make room, and pending sessions are re-read. */
const MAX_WAITING = 10_000;
/** Events that are read together. */
const MAX_SET = 200;
const RETRY_MS = 500;
/** How often it is looked which sessions are to be read again. */
const LOOK_INTERVAL_MS = 500;

export interface RealtimeHubOptions {
  readonly eventBroadcast: EventBroadcast;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly renderer: Pick<SessionRenderer, 'full' | 'reduced'>;
  readonly reader: EventLoader;
  readonly sessionSubscriptions: SessionSubscriptions;
  readonly look: MissedEventPoller;
  readonly onError: (error: unknown) => void;
}

/** A session of a tenant, and the view in which it is shown. */
export interface SessionWish {
  readonly tenant: Tenant;
  readonly sessionId: Uuid;
  readonly view: SessionView;
}

/**
 * Brings events to who listens. Who subscribes is entered first, then the row is read, then the snapshot said and what
 * came meanwhile: so nothing that races a subscribe is missed. Pending sessions are read again now and then, for what the
 * bus has lost.
 */
export class RealtimeHub {
  /** By `tenantKey`: the channel of an account carries the events of one mode, that of the subscriber's key. */
  readonly #accounts = new Map<string, Set<ChannelSubscription>>();
  readonly #waiting: BroadcastEvent[] = [];
  #telling: Promise<void> | undefined;
  #subscription: Subscription | undefined;
  #looking: PollLoop | undefined;
  #stopped = false;

  constructor(private readonly o: RealtimeHubOptions) {}

  /** Settles once events will be heard. */
  async start(): Promise<void> {
    this.#subscription = this.o.eventBroadcast.onEvents((events) => this.hear(events));
    this.#looking = new PollLoop({
      everyMs: LOOK_INTERVAL_MS,
      work: async () => {
        const { endings, more } = await this.o.look.look();
        if (endings.length > 0)
          for (const each of await this.o.reader.read(endings)) this.o.sessionSubscriptions.tell(each);
        return more;
      },
      onError: this.o.onError,
    });
    await this.#subscription.ready;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#subscription?.close();
    await Promise.all([this.#looking?.stop(), this.#telling]);
  }

  /**
   * False when the tenant has no such session; rejects when it cannot be read. Nothing is listened to then, and
   * who listened to it before is told so.
   */
  async subscribeSession(connection: RealtimeConnection, id: FrameId, wish: SessionWish): Promise<boolean> {
    const { sessions, sessionSubscriptions, renderer, clock } = this.o;
    const { tenant, sessionId, view } = wish;
    const channel = channelName({ kind: 'session', id: sessionId });
    const subscription = new ChannelSubscription(connection, view);
    sessionSubscriptions.enter(sessionId, subscription);
    const again = connection.watch(channel, () => sessionSubscriptions.leave(sessionId, subscription));
    try {
      const session = await sessions.find(tenant, sessionId);
      if (session === null) {
        connection.abandon(channel, again);
        return false;
      }
      if (session.status === 'pending') sessionSubscriptions.noteRead(session, clock.nowMs());
      subscription.join(subscribedFrame(id, channel, renderer[renderingOf(view)](session)), session.status);
      return true;
    } catch (error) {
      connection.abandon(channel, again);
      throw error;
    }
  }

  subscribeAccount(
    connection: RealtimeConnection,
    id: FrameId,
    { tenant, view }: Pick<SessionWish, 'tenant' | 'view'>,
  ): void {
    const channel = channelName({ kind: 'account', id: tenant.accountId });
    const key = tenantKey(tenant);
    const subscription = new ChannelSubscription(connection, view);
    const subscriptions = this.#accounts.get(key) ?? new Set();
    this.#accounts.set(key, subscriptions.add(subscription));
    connection.watch(channel, () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#accounts.get(key) === subscriptions) this.#accounts.delete(key);
    });
    subscription.join(subscribedFrame(id, channel, 'null'), null);
  }

  private hear(events: readonly BroadcastEvent[]): void {
    const heard = events.filter(
      (event) =>
        modesOf(event).some((mode) => this.#accounts.has(tenantKey({ accountId: event.accountId, mode }))) ||
        (event.sessionId !== null && this.o.sessionSubscriptions.has(event.sessionId)),
    );
    if (heard.length === 0 || this.#stopped) return;
    this.#waiting.push(...withUpdates(heard));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(0, this.#waiting.length - MAX_WAITING);
    this.#telling ??= this.tellAll().finally(() => {
      this.#telling = undefined;
    });
  }

  /** In the order they were told. */
  private async tellAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) {
      const events = this.#waiting.splice(0, MAX_SET);
      const read = await this.o.reader.read(events).catch((error: unknown) => {
        this.o.onError(error);
        return null;
      });
      if (read === null) {
        this.#waiting.unshift(...events);
        await sleep(RETRY_MS);
      } else {
        for (const renderedEvent of read) this.tell(renderedEvent);
      }
    }
  }

  private tell(renderedEvent: RenderedEvent): void {
    this.o.sessionSubscriptions.tell(renderedEvent);
    const { tenant, onAccount } = renderedEvent;
    for (const subscription of this.#accounts.get(tenantKey(tenant)) ?? []) subscription.tell(onAccount);
  }
}

/** The modes that an event may have: both where its message does not say. */
const modesOf = ({ test }: BroadcastEvent): readonly Mode[] => (test === null ? MODES : [modeOf(test)]);
