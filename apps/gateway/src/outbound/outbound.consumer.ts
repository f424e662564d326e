import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import { WORKER_RETRY_MS } from '@countersign/bus';
import { QUEUES } from '@countersign/events';
import type { MtDispatcher } from './mt.dispatcher.js';

/** Jobs that are taken at the same time: each only wakes the pump. */
const CONCURRENCY = 10;

/** Hears the bell of codes that were just queued. A job is done once the pump is awake. */
@Processor({ name: QUEUES.outbound, configKey: 'worker' }, { concurrency: CONCURRENCY, runRetryDelay: WORKER_RETRY_MS })
export class OutboundConsumer extends WorkerHost implements BeforeApplicationShutdown {
  constructor(
    private readonly dispatcher: Pick<MtDispatcher, 'trigger'>,
    private readonly onError: (error: unknown) => void,
  ) {
    super();
  }

  process(): Promise<void> {
    this.dispatcher.trigger();
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
