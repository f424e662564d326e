import { Injectable } from '@nestjs/common';
import type { Uuid } from '@countersign/ids';

/** Delay before a send is recorded: no create waits for the record, only for the delivery of its card. */
const GRACE_MS = 25;

/**
 * Cards that the platform accepted a moment ago. Their sends are recorded in batches after the grace time; a card whose
 * delivery is stored meanwhile needs no record of its send.
 */
@Injectable()
export class DeliveryGrace {
  private readonly pending = new Map<Uuid, (delivered: boolean) => void>();
  private timer: NodeJS.Timeout | undefined;

  /** Whether the delivery of this card is stored within the grace time. */
  waitForDelivery(id: Uuid): Promise<boolean> {
    return new Promise((resolve) => {
      this.pending.set(id, resolve);
      this.timer ??= setTimeout(() => this.endGrace(), GRACE_MS);
    });
  }

  /** The rows of these cards say that they are delivered. */
  markDelivered(ids: readonly Uuid[]): void {
    for (const id of ids) {
      this.pending.get(id)?.(true);
      this.pending.delete(id);
    }
  }

  private endGrace(): void {
    this.timer = undefined;
    for (const resolve of this.pending.values()) resolve(false);
    this.pending.clear();
  }
}
