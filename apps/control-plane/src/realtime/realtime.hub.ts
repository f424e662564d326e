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

/** Queued broadcast events; while the database is away the oldest are discarded, and polling covers their sessions. */
const MAX_WAITING = 10_000;
/** Events in one read at most. */
const MAX_SET = 200;
const RETRY_MS = 500;
/** Interval of checks for sessions that are due for polling. */
const POLL_INTERVAL_MS = 500;

export interface RealtimeHubOptions {
  readonly eventBroadcast: EventBroadcast;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  readonly sessions: Pick<SessionStore, 'find'>;
  readonly renderer: Pick<SessionRenderer, 'full' | 'reduced'>;
  readonly eventLoader: EventLoader;
  readonly sessionSubscriptions: SessionSubscriptions;
  readonly missedEvents: MissedEventPoller;
  readonly onError: (error: unknown) => void;
}

/** A session of a tenant, and the view in which it is shown. */
export interface SessionRequest {
  readonly tenant: Tenant;
  readonly sessionId: Uuid;
  readonly view: SessionView;
}

/**
 * Sends events to subscribers. A subscription is registered first, then the row is read, then the snapshot and the
 * events received meanwhile are sent, so no event during a subscribe is missed. Pending sessions are polled, for
 * messages that the bus lost.
 */
export class RealtimeHub {
  /** By `tenantKey`: the channel of an account carries the events of one mode, that of the subscriber's key. */
  readonly #accounts = new Map<string, Set<ChannelSubscription>>();
  readonly #waiting: BroadcastEvent[] = [];
  #publishing: Promise<void> | undefined;
  #subscription: Subscription | undefined;
  #polling: PollLoop | undefined;
  #stopped = false;

  constructor(private readonly o: RealtimeHubOptions) {}

  /** Resolves once events are received. */
  async start(): Promise<void> {
    this.#subscription = this.o.eventBroadcast.onEvents((events) => this.receiveEvents(events));
    this.#polling = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: async () => {
        const { endings, more } = await this.o.missedEvents.pollSessions();
        if (endings.length > 0)
          for (const each of await this.o.eventLoader.read(endings)) this.o.sessionSubscriptions.publishToSession(each);
        return more;
      },
      onError: this.o.onError,
    });
    await this.#subscription.ready;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#subscription?.close();
    await Promise.all([this.#polling?.stop(), this.#publishing]);
  }

  /**
   * False when the tenant has no such session; rejects when it cannot be read. In both cases there is no subscription,
   * and a replaced one is ended with `unsubscribed`.
   */
  async subscribeSession(connection: RealtimeConnection, id: FrameId, request: SessionRequest): Promise<boolean> {
    const { sessions, sessionSubscriptions, renderer, clock } = this.o;
    const { tenant, sessionId, view } = request;
    const channel = channelName({ kind: 'session', id: sessionId });
    const subscription = new ChannelSubscription(connection, view);
    sessionSubscriptions.add(sessionId, subscription);
    const replaced = connection.addSubscription(channel, () => sessionSubscriptions.remove(sessionId, subscription));
    try {
      const session = await sessions.find(tenant, sessionId);
      if (session === null) {
        connection.undoSubscribe(channel, replaced);
        return false;
      }
      if (session.status === 'pending') sessionSubscriptions.noteRead(session, clock.nowMs());
      subscription.sendSnapshot(subscribedFrame(id, channel, renderer[renderingOf(view)](session)), session.status);
      return true;
    } catch (error) {
      connection.undoSubscribe(channel, replaced);
      throw error;
    }
  }

  subscribeAccount(
    connection: RealtimeConnection,
    id: FrameId,
    { tenant, view }: Pick<SessionRequest, 'tenant' | 'view'>,
  ): void {
    const channel = channelName({ kind: 'account', id: tenant.accountId });
    const key = tenantKey(tenant);
    const subscription = new ChannelSubscription(connection, view);
    const subscriptions = this.#accounts.get(key) ?? new Set();
    this.#accounts.set(key, subscriptions.add(subscription));
    connection.addSubscription(channel, () => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0 && this.#accounts.get(key) === subscriptions) this.#accounts.delete(key);
    });
    subscription.sendSnapshot(subscribedFrame(id, channel, 'null'), null);
  }

  private receiveEvents(events: readonly BroadcastEvent[]): void {
    const subscribed = events.filter(
      (event) =>
        modesOf(event).some((mode) => this.#accounts.has(tenantKey({ accountId: event.accountId, mode }))) ||
        (event.sessionId !== null && this.o.sessionSubscriptions.has(event.sessionId)),
    );
    if (subscribed.length === 0 || this.#stopped) return;
    this.#waiting.push(...withUpdates(subscribed));
    if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(0, this.#waiting.length - MAX_WAITING);
    this.#publishing ??= this.publishQueuedEvents().finally(() => {
      this.#publishing = undefined;
    });
  }

  /** Publishes the queued events in order of receipt. */
  private async publishQueuedEvents(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) {
      const events = this.#waiting.splice(0, MAX_SET);
      const read = await this.o.eventLoader.read(events).catch((error: unknown) => {
        this.o.onError(error);
        return null;
      });
      if (read === null) {
        this.#waiting.unshift(...events);
        await sleep(RETRY_MS);
      } else {
        for (const renderedEvent of read) this.publishEvent(renderedEvent);
      }
    }
  }

  private publishEvent(renderedEvent: RenderedEvent): void {
    this.o.sessionSubscriptions.publishToSession(renderedEvent);
    const { tenant, onAccount } = renderedEvent;
    for (const subscription of this.#accounts.get(tenantKey(tenant)) ?? []) subscription.deliver(onAccount);
  }
}

/** The possible modes of an event: both when its message lacks the mode. */
const modesOf = ({ test }: BroadcastEvent): readonly Mode[] => (test === null ? MODES : [modeOf(test)]);
