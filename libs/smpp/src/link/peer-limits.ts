import { STATUS } from '../pdu/dictionary.js';
import type { RequestKind } from './link-state.js';
import { ReadLimit, type ReadRate } from './read-limit.js';

/** Before the bind, one more closes the connection. */
const MAX_BEFORE_BIND = 16;
/** After it: what a peer sends of them for a reason is far less. */
const OTHERS: ReadRate = { perSecond: 100, burst: 1_000 };
/** Messages that are answered with an error. A peer that waits after such an answer sends fewer. */
const REFUSED: ReadRate = { perSecond: 500, burst: 1_000 };

/**
 * Requests that are limited elsewhere: messages by their window; a further bind is refused. A further unbind is answered, as long
 * as open requests delay the end of the link.
 */
const LIMITED: ReadonlySet<RequestKind> = new Set(['submit_sm', 'deliver_sm', 'data_sm', 'bind']);

/** @param status the status that answers the request: 0 when it is processed */
export const isOtherRequest = (kind: RequestKind, status: number): boolean =>
  status !== STATUS.ESME_ROK || !LIMITED.has(kind);

/** How long nothing is read from a peer, and why. */
export interface ReadPause {
  readonly ms: number;
  /** Null without a pause. */
  readonly reason: string | null;
}

/**
 * Limits what a peer sends that is answered at once: what is no message, bind or answer to our requests (enquire_link, unbind,
 * refused and malformed requests, responses to nothing), and messages that are refused. Without a limit one connection, which may send tens
 * of thousands in a second, occupies the process.
 */
export class PeerLimits {
  readonly #others: ReadLimit;
  readonly #refused: ReadLimit;
  #beforeBind = 0;

  /** Times are milliseconds of a monotonic clock. */
  constructor(nowMs: number) {
    this.#others = new ReadLimit(OTHERS, nowMs);
    this.#refused = new ReadLimit(REFUSED, nowMs);
  }

  /** Counts a PDU that is no message. False when the peer has sent too many before its bind. */
  countOther(isBound: boolean): boolean {
    if (isBound) this.#others.count();
    else this.#beforeBind++;
    return this.#beforeBind <= MAX_BEFORE_BIND;
  }

  /** Counts a message that is answered with an error. */
  countRefused(): void {
    this.#refused.count();
  }

  /** After a read: the pause until the peer keeps its rates. */
  pause(nowMs: number): ReadPause {
    const [othersMs, refusedMs] = [this.#others.pauseMs(nowMs), this.#refused.pauseMs(nowMs)];
    if (refusedMs > othersMs) return { ms: refusedMs, reason: 'the peer keeps sending messages that are refused' };
    return { ms: othersMs, reason: othersMs > 0 ? 'the peer sends too many PDUs that are no messages' : null };
  }
}
