import { doubledMs } from '@countersign/resilience';
import { peerNetwork } from './networks.js';

/** Failures of one peer within the window, after which it may not even connect. */
export const MAX_FAILURES = 5;
export const FAILURE_WINDOW_MS = 10 * 60 * 1_000;
/** The first refusal is answered after so long; each further one takes twice the time. */
const FIRST_ANSWER_MS = 1_000;
/** Below the session-init timer: the peer still hears why. */
export const LAST_ANSWER_MS = 9_000;
/** Peers whose failures are remembered; the one that failed longest ago is forgotten for a new one. */
const MAX_PEERS = 10_000;

/** When a peer failed, oldest first, by a monotonic clock. */
type Failures = readonly number[];

/** Those that still count, at most as many as matter. */
export function failuresAt(failures: Failures, nowMs: number): Failures {
  return failures.filter((atMs) => nowMs - atMs < FAILURE_WINDOW_MS).slice(-MAX_FAILURES);
}

/** How long the answer to a refused bind is kept back, `failures` with this one. */
export function answerDelayMs(failures: Failures): number {
  return doubledMs(FIRST_ANSWER_MS, LAST_ANSWER_MS, failures.length);
}

export const isLockedOutBy = (failures: Failures): boolean => failures.length >= MAX_FAILURES;

/** The guesses of every peer: a wrong password or an unknown name, whatever connection it came over. */
export class BindLockout {
  readonly #failures = new Map<string, Failures>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Has this peer used up its guesses? It is turned away until the oldest of them is ten minutes old. */
  isLockedOut(address: string): boolean {
    return isLockedOutBy(this.failuresOf(peerNetwork(address)));
  }

  /** Counts a guess and answers how long the refusal is to be kept back. */
  recordFailure(address: string): number {
    const peer = peerNetwork(address);
    const failures = failuresAt([...this.failuresOf(peer), this.nowMs()], this.nowMs());
    // Set anew, so that the order of the map is that of the last failures.
    this.#failures.delete(peer);
    this.#failures.set(peer, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_PEERS && oldest !== undefined) this.#failures.delete(oldest);
    return answerDelayMs(failures);
  }

  /** Whoever was shut out may try again: a password or a system has just been made or changed. */
  clearFailures(): void {
    this.#failures.clear();
  }

  private failuresOf(peer: string): Failures {
    return failuresAt(this.#failures.get(peer) ?? [], this.nowMs());
  }
}
