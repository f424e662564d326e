import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject, type BeforeApplicationShutdown } from '@nestjs/common';
import { WORKER_RETRY_MS } from '@countersign/bus';
import { QUEUES } from '@countersign/events';
import type { Logger } from '@countersign/telemetry';
import { LOGGER } from '../injection/logger.token.js';
import { MtDispatcher } from './mt.dispatcher.js';

/** Concurrent jobs; each only triggers the dispatcher. */
const CONCURRENCY = 10;

/** Consumes the jobs of newly queued codes. A job is complete when the dispatcher is triggered. */
@Processor({ name: QUEUES.outbound, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class OutboundConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: MtDispatcher,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  process(): Promise<void> {
    this.dispatcher.trigger();
    return Promise.resolve();
  }

  /** Without a listener a connection error would end the process. */
  @OnWorkerEvent('error')
  logError(error: Error): void {
    this.logger.debug({ err: error }, 'queue connection error');
  }

  /** Closed before the queues: a worker closed after them can wait on PostgreSQL without end. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}
