import { PollLoop } from '@countersign/schedule';
import { Injectable } from '@nestjs/common';
import { OnStart, OnStop } from '../composition/phases.js';
import { FailureLog } from '../operations/failure-log.js';
import { MissedEventPoller } from './missed-event.poller.js';
import { EventLoader } from './rendered-event.js';
import { SessionSubscriptions } from './session-subscriptions.js';

/** Interval of checks for sessions that are due for polling. */
const POLL_INTERVAL_MS = 500;

/** Publishes the terminal events that polling has found. */
@Injectable()
export class MissedEventPublisher {
  #polling: PollLoop | undefined;

  constructor(
    private readonly poller: MissedEventPoller,
    private readonly loader: EventLoader,
    private readonly sessionSubscriptions: SessionSubscriptions,
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
    const { endings, more } = await this.poller.pollSessions();
    if (endings.length > 0) {
      for (const each of await this.loader.read(endings)) this.sessionSubscriptions.publishToSession(each);
    }
    return more;
  }
}
