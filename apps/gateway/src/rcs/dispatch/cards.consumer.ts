import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { WORKER_RETRY_MS } from '@countersign/bus';
import { QUEUES, type WakeUp } from '@countersign/events';
import type { OfferDispatcher } from './offer.dispatcher.js';
import type { RcsCommandProcessor } from './rcs-command.processor.js';

/** Jobs at a time; a job lasts no longer than its claim. */
const CONCURRENCY = 32;

/** Consumes jobs of the cards queue: ids of offers to be sent, and of cards with a command to the platform. */
@Processor({ name: QUEUES.cards, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class CardsConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: Pick<OfferDispatcher, 'claimAndSend'>,
    private readonly commands: Pick<RcsCommandProcessor, 'wake'>,
    private readonly onError: (error: unknown) => void,
  ) {
    super();
  }

  async process({ data }: Job<WakeUp>): Promise<void> {
    const unclaimed = await this.dispatcher.claimAndSend(data.ids);
    if (unclaimed.length > 0) this.commands.wake();
  }

  /** Without a listener an error of the connection would end the process. */
  @OnWorkerEvent('error')
  failed(error: Error): void {
    this.onError(error);
  }

  /** Consumes no further jobs: an offer consumed here and not sent would be lost to the other gateways. */
  async stop(): Promise<void> {
    await this.worker.close();
  }

  /** Before the queues close: a worker that closes after them can wait forever on PostgreSQL. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }
}
