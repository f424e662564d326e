import { setTimeout as sleep } from 'node:timers/promises';
import type { Subscription } from '@countersign/bus';
import { modeOf, MODES, type Mode } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { EventBroadcast, UPDATED, type BroadcastEvent } from '../events/event-broadcast.js';
import { FailureLog } from '../operations/failure-log.js';
import { AccountEventPublisher } from './account-event.publisher.js';
import { SessionSubscriptions } from './session-subscriptions.js';
import { EventLoader, withUpdates, type RenderedEvent } from './rendered-event.js';

/** Queued broadcast events; while the database is away the oldest are discarded, and polling covers their sessions. */
const MAX_WAITING = 10_000;
/** Events in one read at most. */
const MAX_SET = 200;
const RETRY_MS = 500;

/**
 * Publishes broadcast events to the subscriptions of sessions; `MissedEventPoller` finds those that the bus lost. For accounts a
 * broadcast causes a read of their events (`AccountEventPublisher`), except for `verification.updated`, which is not stored.
 */
@Injectable()
export class RealtimeHub {
  readonly #waiting: BroadcastEvent[] = [];
  readonly #onError: (error: unknown) => void;
  #publishing: Promise<void> | undefined;
  #subscription: Subscription | undefined;
  #stopped = false;

  constructor(
    private readonly broadcast: EventBroadcast,
    private readonly loader: EventLoader,
    private readonly sessionSubscriptions: SessionSubscriptions,
    private readonly accountEvents: AccountEventPublisher,
    failures: FailureLog,
  ) {
    this.#onError = failures.about('publishing realtime events');
  }

  /** Resolves once events are received. */
  @OnStart('subscriptions')
  async start(): Promise<void> {
    this.#subscription = this.broadcast.onEvents((events) => this.receiveEvents(events));
    await this.#subscription.ready;
  }

  @OnStop('realtime')
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#subscription?.close();
    await this.#publishing;
  }

  private receiveEvents(events: readonly BroadcastEvent[]): void {
    if (this.#stopped) return;
    const waiting = events.flatMap((event) => {
      const onAccount = this.wakeAccount(event);
      const onSession = event.sessionId !== null && this.sessionSubscriptions.has(event.sessionId);
      return withUpdates([event]).filter(({ type }) => onSession || (onAccount && type === UPDATED));
    });
    if (waiting.length === 0) return;
    this.#waiting.push(...waiting);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.splice(0, this.#waiting.length - MAX_WAITING);
    this.#publishing ??= this.publishQueuedEvents().finally(() => {
      this.#publishing = undefined;
    });
  }

  /** Whether the account has subscriptions. */
  private wakeAccount(event: BroadcastEvent): boolean {
    const woken = modesOf(event).map((mode) => this.accountEvents.wake({ accountId: event.accountId, mode }));
    return woken.includes(true);
  }

  /** Publishes the queued events in order of receipt. */
  private async publishQueuedEvents(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopped) {
      const events = this.#waiting.splice(0, MAX_SET);
      const read = await this.loader.read(events).catch((error: unknown) => {
        this.#onError(error);
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
    this.sessionSubscriptions.publishToSession(renderedEvent);
    if (renderedEvent.broadcast.type === UPDATED) this.accountEvents.publishUpdate(renderedEvent);
  }
}

/** The possible modes of an event: both when its message lacks the mode. */
const modesOf = ({ test }: BroadcastEvent): readonly Mode[] => (test === null ? MODES : [modeOf(test)]);
