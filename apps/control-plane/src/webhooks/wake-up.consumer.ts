import { WORKER_RETRY_MS } from '@countersign/bus';
import { QUEUES, type WakeUp } from '@countersign/events';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** Jobs that are taken at the same time: each only wakes the pump. */
const CONCURRENCY = 10;

/** Hears the bell. A job carries ids and no state, and is done once the pump is awake. */
@Processor({ name: QUEUES.webhooks, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class WakeUpConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly webhookDispatcher: WebhookDispatcher,
    private readonly onError: (error: unknown) => void,
  ) {
    super();
  }

  process(job: Job<WakeUp>): Promise<void> {
    this.webhookDispatcher.wake(job.data.ids);
    return Promise.resolve();
  }

  /** Without a listener an error of the connection would end the process. */
  @OnWorkerEvent('error')
  failed(error: Error): void {
    this.onError(error);
  }

  /** Before the queues: a worker that closes after them can wait for ever on PostgreSQL. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}
