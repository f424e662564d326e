import { pingQueue, queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import { ControlPlaneSettings } from '@countersign/settings';
import { Injectable } from '@nestjs/common';
import { Queue } from 'bullmq';
import { OnStart, OnStop } from '../composition/phases.js';
import { closeQueue } from './close-queue.js';
import { FailureLog } from './failure-log.js';
import { QueueSweeper } from './queue.sweeper.js';

/** The queue of the readiness check: this process notifies its own outbox dispatcher directly. */
@Injectable()
export class EventQueue {
  readonly #queue: Queue;
  readonly #sweeper: QueueSweeper;

  constructor(
    settings: ControlPlaneSettings,
    private readonly failures: FailureLog,
  ) {
    this.#queue = new Queue(QUEUES.webhooks, {
      connection: queueConnection(settings, 'producer'),
      prefix: QUEUE_PREFIX,
    });
    this.#queue.on('error', failures.about('event queue: the connection of the readiness check'));
    this.#sweeper = new QueueSweeper(this.#queue, failures);
  }

  /** Resolves when the queue's store answers. */
  ping(): Promise<void> {
    return pingQueue(this.#queue.backend);
  }

  @OnStart('workers')
  start(): void {
    this.#sweeper.start();
  }

  @OnStop('queue')
  async close(): Promise<void> {
    await this.#sweeper.stop();
    return closeQueue(this.failures, () => this.#queue.close());
  }
}
