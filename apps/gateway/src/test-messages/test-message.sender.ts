import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import type { ClaimedTestMessage } from '@countersign/carriers/test-messages';
import { Inject, Injectable } from '@nestjs/common';
import { PollLoop } from '@countersign/schedule';
import type { Logger } from '@countersign/telemetry';
import { BindConnections } from '../binds/bind-connections.js';
import { OnStart, OnStop } from '../composition/phases.js';
import { LOGGER } from '../injection/logger.token.js';
import { GatewayTestMessages } from './gateway-test-messages.js';
import { TestMessageAttempt } from './test-message.attempt.js';

/** For a notification that is lost. */
const POLL_MS = 5_000;

/** Sends the test messages of the binds that are bound here, each once. */
@Injectable()
export class TestMessageSender {
  #pollLoop: PollLoop | undefined;
  #subscription: Subscription | undefined;

  constructor(
    private readonly messages: GatewayTestMessages,
    private readonly attempts: TestMessageAttempt,
    private readonly connections: BindConnections,
    private readonly bus: PubSub,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @OnStart('start sending')
  start(): void {
    this.#pollLoop = new PollLoop({
      everyMs: POLL_MS,
      work: () => this.sendDue(),
      onError: (err) => this.logger.warn({ err }, 'test messages: could not be read; retrying'),
    });
    this.#subscription = this.bus.subscribe(TOPICS.testMessages, () => this.#pollLoop?.trigger());
  }

  @OnStop('stop sending')
  async stop(): Promise<void> {
    this.#subscription?.close();
    await this.#pollLoop?.stop();
  }

  private async sendDue(): Promise<boolean> {
    const bindIds = new Set(this.connections.senders().map(({ bind }) => bind.id));
    const claimed = await this.messages.claim([...bindIds]);
    await Promise.all(claimed.map((message) => this.send(message)));
    return false;
  }

  private async send(message: ClaimedTestMessage): Promise<void> {
    const result = await this.attempts.make(message);
    await this.messages.record(message.id, result);
    this.bus.publish(TOPICS.testMessages);
  }
}
