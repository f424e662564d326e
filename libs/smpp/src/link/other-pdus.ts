import { TokenBucket } from '@countersign/resilience';
import { STATUS } from '../pdu/dictionary.js';
import type { RequestKind } from './link-state.js';

/** Before the bind, one more closes the connection. */
const MAX_BEFORE_BIND = 16;
/** After it: what a peer sends of them for a reason is far less. Reading pauses until the rate is kept again. */
const PER_SECOND = 100;
const BURST = 1_000;

/** Requests that are limited elsewhere: messages by their window; a further bind or unbind is refused. */
const LIMITED: ReadonlySet<RequestKind> = new Set(['submit_sm', 'deliver_sm', 'data_sm', 'bind', 'unbind']);

/** @param status the status that answers the request: 0 when it is processed */
export const isOtherRequest = (kind: RequestKind, status: number): boolean =>
  status !== STATUS.ESME_ROK || !LIMITED.has(kind);

/**
 * Limits what a peer sends besides messages, the bind and answers to our requests: enquire_link, refused and malformed requests,
 * responses to nothing. Each has an answer at once, so without a limit one connection occupies the process.
 */
export class OtherPdus {
  readonly #bucket: TokenBucket;
  #sinceRead = 0;
  #beforeBind = 0;

  /** Times are milliseconds of a monotonic clock. */
  constructor(nowMs: number) {
    this.#bucket = new TokenBucket({ perSecond: PER_SECOND, capacity: BURST }, nowMs);
  }

  /** Counts one. False when the peer has sent too many before its bind. */
  count(isBound: boolean): boolean {
    if (isBound) this.#sinceRead++;
    else this.#beforeBind++;
    return this.#beforeBind <= MAX_BEFORE_BIND;
  }

  /** After a read: milliseconds to read nothing more; 0 while the peer keeps its rate. */
  pauseMs(nowMs: number): number {
    if (this.#sinceRead === 0) return 0;
    this.#bucket.take(nowMs, this.#sinceRead);
    this.#sinceRead = 0;
    return this.#bucket.waitMs(nowMs);
  }
}
