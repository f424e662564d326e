import { Bell } from '@countersign/bus';
import type { Uuid } from '@countersign/postgres';
import { withinDeadline } from '@countersign/telemetry';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Queue } from 'bullmq';

/** BullMQ waits without end for a Redis that is away; there is nothing in it that would be lost. */
const CLOSE_MS = 400;

/** Tells the gateways that messages are due. They find those of a lost ring by themselves. */
export class OutboundBell implements OnModuleDestroy {
  private readonly bell: Bell;

  constructor(
    private readonly queue: Queue,
    private readonly onError: (error: unknown) => void,
  ) {
    this.bell = new Bell(queue, onError);
    queue.on('error', onError);
  }

  ring(ids: readonly Uuid[]): void {
    this.bell.ring(ids);
  }

  async onModuleDestroy(): Promise<void> {
    await this.bell.close();
    await withinDeadline(CLOSE_MS, () => this.queue.close()).catch(this.onError);
  }
}
