import { WORKER_RETRY_MS } from '@countersign/bus';
import { idsOf, QUEUES } from '@countersign/events';
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { OnStop } from '../composition/phases.js';
import { closeQueue } from '../operations/close-queue.js';
import { FailureLog } from '../operations/failure-log.js';
import { OutboxDispatcher } from './outbox.dispatcher.js';

/** Jobs that run at the same time: each only wakes the dispatcher. */
const CONCURRENCY = 10;

/** Consumes wake-ups of other processes. A job carries ids and no state, and is done once the dispatcher is awake. */
@Processor({ name: QUEUES.webhooks, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class EventsConsumer extends WorkerHost implements BeforeApplicationShutdown {
  private readonly onError: (error: unknown) => void;

  constructor(
    private readonly dispatcher: OutboxDispatcher,
    private readonly failures: FailureLog,
  ) {
    super();
    this.onError = failures.about('event queue: the connection of the worker');
  }

  process(job: Job<unknown>): Promise<void> {
    this.dispatcher.wake(idsOf(job.data));
    return Promise.resolve();
  }

  /** Without a listener, an error of the connection would end the process. */
  @OnWorkerEvent('error')
  failed(error: Error): void {
    this.onError(error);
  }

  @OnStop('consumers')
  close(): Promise<void> {
    return closeQueue(this.failures, () => this.worker.close());
  }

  /** Before the queues close: a worker that closes after them can wait for PostgreSQL without end. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}
