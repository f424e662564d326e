import type { Tenant } from '@countersign/keys';
import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { AccountEventPoller, type ReadTenant } from './account-event.poller.js';
import { AccountSubscriptions, type SubscribedTenant } from './account-subscriptions.js';
import { EventLoader, type RenderedEvent } from './rendered-event.js';

/** How often the events of all subscribed tenants are read: broadcasts may be lost. */
const POLL_INTERVAL_MS = 10_000;
/** After a failure. */
const RETRY_MS = 500;
/** Events that are rendered at a time. */
const MAX_SET = 200;

/**
 * Publishes the events of accounts from their rows: a broadcast only causes a read, which finds every event that was committed
 * before and not read. So an event whose broadcast was lost is published before later ones, and a client that resumes after the
 * last event that it received misses none: the others come after it in order of dispatch, or their transactions were open when it
 * was dispatched (`findDispatchedAfter`).
 */
@Injectable()
export class AccountEventPublisher {
  /** Tenants with a broadcast since their last read. */
  readonly #woken = new Set<SubscribedTenant>();
  #loop: PollLoop | undefined;
  #pollDueMs = 0;

  constructor(
    private readonly poller: AccountEventPoller,
    private readonly loader: EventLoader,
    private readonly subscriptions: AccountSubscriptions,
    private readonly failures: FailureLog,
  ) {}

  @OnStart('subscriptions')
  start(): void {
    this.#loop = new PollLoop({
      everyMs: RETRY_MS,
      work: () => this.publishUnseen(),
      onError: this.failures.about('publishing realtime events'),
    });
  }

  @OnStop('realtime')
  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  /** Reads the events of a tenant soon. False without subscriptions. */
  wake(tenant: Tenant): boolean {
    const subscribed = this.subscriptions.find(tenant);
    if (subscribed === undefined) return false;
    this.#woken.add(subscribed);
    this.#loop?.trigger();
    return true;
  }

  /** From its resolution on every event that is committed will be published. Rejects when the database cannot be read. */
  async begin(subscribed: SubscribedTenant): Promise<void> {
    if (subscribed.seen !== null) return;
    const seen = await this.poller.snapshot();
    subscribed.seen ??= seen;
    // Broadcasts that were received meanwhile caused no read.
    this.wake(subscribed.tenant);
  }

  /** Publishes an event that is not stored. */
  publishUpdate(event: RenderedEvent): void {
    this.subscriptions.publishToAccount(event);
  }

  private async publishUnseen(): Promise<boolean> {
    const isPollDue = performance.now() >= this.#pollDueMs;
    const due = (isPollDue ? this.subscriptions.tenants() : [...this.#woken]).filter(isBegun);
    const nextPollMs = isPollDue ? performance.now() + POLL_INTERVAL_MS : this.#pollDueMs;
    this.#woken.clear();
    // A failure leaves all tenants due.
    this.#pollDueMs = 0;
    if (due.length > 0) await this.publishUnseenOf(due);
    this.#pollDueMs = nextPollMs;
    return false;
  }

  private async publishUnseenOf(due: readonly BegunTenant[]): Promise<void> {
    const until = await this.poller.snapshot();
    for await (const events of this.poller.unseen(due, until)) {
      for (let at = 0; at < events.length; at += MAX_SET) {
        const rendered = await this.loader.read(events.slice(at, at + MAX_SET));
        for (const each of rendered) this.subscriptions.publishToAccount(each);
      }
    }
    for (const each of due) each.seen = until;
  }
}

type BegunTenant = SubscribedTenant & ReadTenant;

const isBegun = (each: SubscribedTenant): each is BegunTenant => each.seen !== null;
