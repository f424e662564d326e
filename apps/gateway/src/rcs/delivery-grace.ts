import type { Uuid } from '@countersign/ids';

/** Nobody waits for the record of a send for less: what a request waits for is that its card arrives. */
const GATHER_MS = 25;

/**
 * Cards that the platform took a moment ago. That is recorded in sets, after this moment; and not at all of those that are
 * told to have arrived meanwhile, since their rows say so.
 */
export class DeliveryGrace {
  private readonly gathered = new Map<Uuid, (arrived: boolean) => void>();
  private timer: NodeJS.Timeout | undefined;

  /** Whether it is told to have arrived before the moment is over. */
  arrives(id: Uuid): Promise<boolean> {
    return new Promise((resolve) => {
      this.gathered.set(id, resolve);
      this.timer ??= setTimeout(() => this.end(), GATHER_MS);
    });
  }

  /** The rows of these cards say that they have arrived. */
  arrived(ids: readonly Uuid[]): void {
    for (const id of ids) {
      this.gathered.get(id)?.(true);
      this.gathered.delete(id);
    }
  }

  private end(): void {
    this.timer = undefined;
    for (const resolve of this.gathered.values()) resolve(false);
    this.gathered.clear();
  }
}
