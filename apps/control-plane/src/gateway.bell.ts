import { Bell, bellConnection, type BellOptions } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES, type QueueName } from '@countersign/events';
import type { Uuid } from '@countersign/postgres';
import { withinDeadline } from '@countersign/telemetry';
import type { OnModuleDestroy } from '@nestjs/common';
import { Queue } from 'bullmq';

/** BullMQ waits without end for a Redis that is away; there is nothing in it that would be lost. */
const CLOSE_MS = 400;

/** Tells the gateways that rows of one queue are due. A ring may be lost. */
export class GatewayBell implements OnModuleDestroy {
  private readonly queue: Queue;
  private readonly bell: Bell;

  constructor(
    name: QueueName,
    store: BellOptions,
    private readonly onError: (error: unknown) => void,
  ) {
    this.queue = new Queue(QUEUES[name], { connection: bellConnection(store, 'producer'), prefix: QUEUE_PREFIX });
    this.bell = new Bell(this.queue, onError);
    this.queue.on('error', onError);
  }

  /** After the commit of the rows. Never throws, never waits. */
  ring(ids: readonly Uuid[]): void {
    this.bell.ring(ids);
  }

  async onModuleDestroy(): Promise<void> {
    await this.bell.close();
    await withinDeadline(CLOSE_MS, () => this.queue.close()).catch(this.onError);
  }
}
