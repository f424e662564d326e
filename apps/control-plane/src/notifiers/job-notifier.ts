import { JobNotifier, queueConnection, type QueueStoreOptions } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES, type QueueName } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { withinDeadline } from '@countersign/telemetry';
import type { OnModuleDestroy } from '@nestjs/common';
import { Queue } from 'bullmq';
import { OnStart } from '../composition/phases.js';
import type { FailureLog } from '../operations/failure-log.js';
import { QueueSweeper } from '../operations/queue.sweeper.js';

/** BullMQ waits without end for an unreachable Redis; the queue holds nothing that would be lost. */
const CLOSE_MS = 400;

/** Notifies the gateways that rows of one queue are due. A notification may be lost. */
export class GatewayJobNotifier implements OnModuleDestroy {
  private readonly queue: Queue;
  private readonly notifier: JobNotifier;
  private readonly sweeper: QueueSweeper;
  private readonly onError: (error: unknown) => void;

  /** `work` is the subject of the log line of a failure. */
  constructor(
    name: QueueName,
    store: QueueStoreOptions,
    { failures, work }: { readonly failures: Pick<FailureLog, 'about'>; readonly work: string },
  ) {
    this.onError = failures.about(work);
    this.queue = new Queue(QUEUES[name], { connection: queueConnection(store, 'producer'), prefix: QUEUE_PREFIX });
    this.notifier = new JobNotifier(this.queue, this.onError);
    this.queue.on('error', this.onError);
    this.sweeper = new QueueSweeper(this.queue, failures);
  }

  @OnStart('workers')
  start(): void {
    this.sweeper.start();
  }

  /** After the commit of the rows. Never throws, never waits. */
  notify(ids: readonly Uuid[]): void {
    this.notifier.notify(ids);
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.sweeper.stop(), this.notifier.close()]);
    await withinDeadline(CLOSE_MS, () => this.queue.close()).catch(this.onError);
  }
}
