import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { FailureLog } from '../operations/failure-log.js';
import { AccountSubscriptions } from './account-subscriptions.js';
import { MissedAccountEventPoller } from './missed-account-event.poller.js';
import { EventLoader } from './rendered-event.js';

const POLL_INTERVAL_MS = 10_000;
/** Events that are read and rendered at a time. */
const MAX_SET = 200;

/** Publishes the events of accounts that polling has found. */
@Injectable()
export class MissedAccountEventPublisher {
  /** Found, and not published yet. */
  readonly #missed: BroadcastEvent[] = [];
  #polling: PollLoop | undefined;

  constructor(
    private readonly poller: MissedAccountEventPoller,
    private readonly loader: EventLoader,
    private readonly subscriptions: AccountSubscriptions,
    private readonly failures: FailureLog,
  ) {}

  @OnStart('subscriptions')
  start(): void {
    this.#polling = new PollLoop({
      everyMs: POLL_INTERVAL_MS,
      work: () => this.publishMissed(),
      onError: this.failures.about('publishing realtime events'),
    });
  }

  @OnStop('realtime')
  async stop(): Promise<void> {
    await this.#polling?.stop();
  }

  private async publishMissed(): Promise<boolean> {
    if (this.#missed.length > 0) await this.publishFound();
    const { events, more } = await this.poller.poll();
    this.#missed.push(...events);
    await this.publishFound();
    return more;
  }

  /** A failed read is repeated with the next poll. */
  private async publishFound(): Promise<void> {
    while (this.#missed.length > 0) {
      const set = this.#missed.slice(0, MAX_SET);
      for (const each of await this.loader.read(set)) this.subscriptions.publishToAccount(each);
      this.#missed.splice(0, set.length);
    }
  }
}
