import type { Uuid } from '@countersign/ids';
import { LRUCache } from 'lru-cache';

/** A code is sent once more when it is unknown whether the first SMS has arrived. */
const MAX_SUBMITS = 2;
const MAX_CODES = 100_000;
/** Longer than any code is valid. */
const KEPT_MS = 600_000;

/**
 * The codes that this process has sent or is sending, so that it sends none more often than twice, whatever the database says:
 * whoever has the role of gateways could put a code that was sent back into the queue, without end and past every cap.
 */
export class SubmittedCodes {
  readonly #counts = new LRUCache<Uuid, number>({ max: MAX_CODES, ttl: KEPT_MS });

  /** Counts an attempt that begins; false if the code may not be sent again. Those under way count, too. */
  begin(id: Uuid): boolean {
    const count = this.#counts.get(id) ?? 0;
    if (count >= MAX_SUBMITS) return false;
    this.#counts.set(id, count + 1);
    return true;
  }

  /** Call after an attempt that certainly sent nothing, or that the carrier refused. */
  takeBack(id: Uuid): void {
    this.#counts.set(id, Math.max(0, (this.#counts.get(id) ?? 0) - 1));
  }
}
