import type { Uuid } from '@countersign/ids';
import { LRUCache } from 'lru-cache';

/** A code is sent once more when it is unknown whether the first SMS has arrived. */
const MAX_SUBMITS = 2;
const MAX_CODES = 100_000;
/** Longer than any code is valid. */
const KEPT_MS = 600_000;

/**
 * The codes that this process has sent, so that it sends none more often than twice, whatever the database says: whoever has the role of
 * gateways could put a code that was sent back into the queue, without end and past every cap.
 */
export class SubmittedCodes {
  readonly #counts = new LRUCache<Uuid, number>({ max: MAX_CODES, ttl: KEPT_MS });

  mayBeSent(id: Uuid): boolean {
    return (this.#counts.get(id) ?? 0) < MAX_SUBMITS;
  }

  /** Call when it was sent, or may have been. */
  add(id: Uuid): void {
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }
}
