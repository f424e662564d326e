import { doubledMs } from '@countersign/resilience';
import { peerNetwork } from './networks.js';

/** Failures of one peer within the window after which its connections are refused. */
export const MAX_FAILURES = 5;
export const FAILURE_WINDOW_MS = 10 * 60 * 1_000;
/** Delay of the first refusal; each further one doubles it. */
const FIRST_ANSWER_MS = 1_000;
/** Three seconds below the session-init timer, so that a busy gateway still answers before it. */
export const LAST_ANSWER_MS = 7_000;
/** Maximum peers with recorded failures; the least recently failed one is evicted for a new one. */
const MAX_PEERS = 10_000;

/** Times of a peer's failures, oldest first, of a monotonic clock. */
type Failures = readonly number[];

/** The failures within the window, at most `MAX_FAILURES`. */
function failuresAt(failures: Failures, nowMs: number): Failures {
  return failures.filter((atMs) => nowMs - atMs < FAILURE_WINDOW_MS).slice(-MAX_FAILURES);
}

/** Delay of the response to a refused bind; `failures` includes this one. */
function answerDelayMs(failures: Failures): number {
  return doubledMs(FIRST_ANSWER_MS, LAST_ANSWER_MS, failures.length);
}

const isLockedOutBy = (failures: Failures): boolean => failures.length >= MAX_FAILURES;

/** Failed binds (wrong password or unknown system_id) of every peer, over all its connections. */
export class BindLockout {
  readonly #failures = new Map<string, Failures>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Whether this peer has `MAX_FAILURES` failures within the window. */
  isLockedOut(address: string): boolean {
    return isLockedOutBy(this.failuresOf(peerNetwork(address)));
  }

  /** Records a failed bind and returns the delay of its refusal in milliseconds. */
  recordFailure(address: string): number {
    const peer = peerNetwork(address);
    const failures = failuresAt([...this.failuresOf(peer), this.nowMs()], this.nowMs());
    // Deleted and set again, so that the map is ordered by last failure.
    this.#failures.delete(peer);
    this.#failures.set(peer, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_PEERS && oldest !== undefined) this.#failures.delete(oldest);
    return answerDelayMs(failures);
  }

  /** Ends all lockouts: a password or a system was created or changed. */
  clearFailures(): void {
    this.#failures.clear();
  }

  private failuresOf(peer: string): Failures {
    return failuresAt(this.#failures.get(peer) ?? [], this.nowMs());
  }
}
