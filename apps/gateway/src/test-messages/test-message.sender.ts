import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import type { ClaimedTestMessage } from '@countersign/carriers/test-messages';
import { renderId } from '@countersign/ids';
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
  /** Those whose response is waited for; few, since few are made in an hour. */
  readonly #sending = new Set<Promise<void>>();
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
    await Promise.all(this.#sending);
  }

  /** A carrier that does not respond holds up no message of another bind. */
  private async sendDue(): Promise<boolean> {
    const bindIds = new Set(this.connections.senders().map(({ bind }) => bind.id));
    for (const message of await this.messages.claim([...bindIds])) {
      const sending = this.send(message).finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
    return false;
  }

  /** Never rejects. */
  private async send(message: ClaimedTestMessage): Promise<void> {
    try {
      await this.messages.record(message.id, await this.attempts.make(message));
      this.bus.publish(TOPICS.testMessages);
    } catch (err) {
      const bindId = renderId('bind', message.bindId);
      this.logger.warn({ err, bindId }, 'test messages: the result of one could not be recorded');
    }
  }
}
