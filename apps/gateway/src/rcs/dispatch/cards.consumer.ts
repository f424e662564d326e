import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { WORKER_RETRY_MS } from '@countersign/bus';
import { idsOf, QUEUES } from '@countersign/events';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../../injection/logger.token.js';
import { OnStop } from '../../composition/phases.js';
import { OfferDispatcher } from './offer.dispatcher.js';
import { RcsCommandProcessor } from './rcs-command.processor.js';

/** Jobs at a time; a job lasts no longer than its claim. */
const CONCURRENCY = 32;

/** Consumes jobs of the cards queue: ids of offers to be sent, and of cards with a command to the platform. */
@Processor({ name: QUEUES.cards, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class CardsConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: OfferDispatcher,
    private readonly commands: RcsCommandProcessor,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  async process({ data }: Job<unknown>): Promise<void> {
    const unclaimed = await this.dispatcher.claimAndSend(idsOf(data));
    if (unclaimed.length > 0) this.commands.trigger();
  }

  /** Without a listener an error of the connection would end the process. */
  @OnWorkerEvent('error')
  logError(error: Error): void {
    this.logger.debug({ err: error }, 'queue connection error');
  }

  /** Consumes no further jobs: an offer consumed here and not sent would be lost to the other gateways. */
  @OnStop('stop sending')
  async stop(): Promise<void> {
    await this.worker.close();
  }

  /** Before the queues close: a worker that closes after them can wait forever on PostgreSQL. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }
}
