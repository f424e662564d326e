import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { WORKER_RETRY_MS } from '@countersign/bus';
import { QUEUES, type WakeUp } from '@countersign/events';
import type { RcsCommandProcessor } from './rcs-command.processor.js';
import type { CardOffers } from './card-offers.js';

/** Jobs that are taken at the same time: each is a claim, and no longer than that. */
const CONCURRENCY = 32;

/** Hears the bell of cards: offers to be sent, and cards of which the platform is to be told something. */
@Processor({ name: QUEUES.cards, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class CardsConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly offers: Pick<CardOffers, 'take'>,
    private readonly commands: Pick<RcsCommandProcessor, 'wake'>,
    private readonly onError: (error: unknown) => void,
  ) {
    super();
  }

  async process({ data }: Job<WakeUp>): Promise<void> {
    const left = await this.offers.take(data.ids);
    if (left.length > 0) this.commands.wake();
  }

  /** Without a listener an error of the connection would end the process. */
  @OnWorkerEvent('error')
  failed(error: Error): void {
    this.onError(error);
  }

  /** Takes no more jobs: an offer that is heard of here and not sent would be kept from the other gateways. */
  async stop(): Promise<void> {
    await this.worker.close();
  }

  /** Before the queues: a worker that closes after them can wait for ever on PostgreSQL. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }
}
