import { NotSentError } from '@countersign/smpp/link';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import { isThrottle } from '../metrics/throttle.js';
import { withLimit, rateAt, initialRate, slowed, tokenTaken, waitMs, type SendRate } from './send-rate.js';

/** Attempts on one connection at a time, in windows: what waits must not wait for long, nor leave the connection idle. */
const WINDOWS_AHEAD = 4;
/** What waits for its turn is sent within about this time, however slow the carrier wants it. */
const SECONDS_AHEAD = 1;
const MS_PER_SECOND = 1_000;
/** While something waits, the terms are looked at this often: a wider window, another rate, a connection that is gone. */
const TERMS_EVERY_MS = 250;
/** A full lane is asked again no sooner and no later than this. */
const LEAST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** What a connection may do, as its row says now. */
export interface SubmitQueueTerms {
  readonly window: number;
  /** The connection's part of its bind's rate. */
  readonly perSecond: number;
}

interface WaitingSubmit {
  readonly dueMs: number;
  readonly resolve: (sends: boolean) => void;
}

/**
 * The codes of one connection: each waits here for its turn, not in the link, so that none is sent after its session or
 * faster than the carrier takes them. Enquiries, answers and the unbind never pass through here. Everything in hand is
 * counted before it waits, so the queue is as short as the counting makes it.
 */
export class SubmitQueue {
  #reserved = 0;
  #inFlight = 0;
  #rate: SendRate | null = null;
  #waiting: WaitingSubmit[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Null while the connection cannot send. */
  constructor(private readonly terms: () => SubmitQueueTerms | null) {}

  /** Nothing is in hand, and nothing is to be remembered. */
  get isIdle(): boolean {
    if (this.#reserved > 0) return false;
    const rate = this.#rate === null ? null : rateAt(this.#rate, performance.now());
    return rate === null || rate.perSecond >= rate.limit;
  }

  /** Attempts that may be taken on top of those `planned`: below 1 for none. */
  capacityBeyond(planned: number): number {
    const terms = this.terms();
    if (terms === null) return 0;
    const { perSecond } = this.rateNow(terms);
    const soon = this.#inFlight + Math.max(1, Math.ceil(perSecond * SECONDS_AHEAD));
    return Math.min(terms.window * WINDOWS_AHEAD, soon) - this.#reserved - planned;
  }

  /** When a lane without room is worth another look: once half of what is in hand may have gone. */
  get pauseMs(): number {
    const terms = this.terms();
    if (terms === null) return LONGEST_PAUSE_MS;
    const halfMs = (this.#reserved / 2 / this.rateNow(terms).perSecond) * MS_PER_SECOND;
    return Math.min(LONGEST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, halfMs));
  }

  /** What may be sent a second now; null while it cannot send. */
  get perSecond(): number | null {
    const terms = this.terms();
    return terms === null ? null : rateAt(this.rateNow(terms), performance.now()).perSecond;
  }

  reserve(): void {
    this.#reserved++;
  }

  release(): void {
    this.#reserved--;
  }

  /**
   * Sends when it is its turn: a slot of the window is free, and the rate allows it. Rejects with NotSentError when that
   * takes longer than `withinMs` or the connection is lost meanwhile; else settles as `send` does.
   */
  async submit(withinMs: number, send: () => Promise<ResponsePdu>): Promise<ResponsePdu> {
    if (!(await this.waitForTurn(withinMs))) throw new NotSentError('no turn came in time');
    const sentMs = performance.now();
    try {
      const answer = await send();
      if (this.#rate !== null && isThrottle(answer)) this.#rate = slowed(this.#rate, sentMs, performance.now());
      return answer;
    } finally {
      this.#inFlight--;
      this.startNext();
    }
  }

  private waitForTurn(withinMs: number): Promise<boolean> {
    return new Promise((take) => {
      this.#waiting.push({ dueMs: performance.now() + withinMs, resolve: take });
      this.startNext();
    });
  }

  private startNext(): void {
    const nowMs = performance.now();
    const terms = this.terms();
    this.rejectExpired(terms === null ? Infinity : nowMs);
    if (terms === null) return;
    this.#rate = this.rateNow(terms);
    while (this.#inFlight < terms.window && this.#waiting.length > 0) {
      const rate = tokenTaken(this.#rate, nowMs);
      if (rate === null) break;
      this.#rate = rate;
      this.#inFlight++;
      this.#waiting.shift()?.resolve(true);
    }
    this.armTimer(this.#rate, terms, nowMs);
  }

  /** Those whose time was over by then. */
  private rejectExpired(byMs: number): void {
    const late = this.#waiting.filter(({ dueMs }) => dueMs <= byMs);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ dueMs }) => dueMs > byMs);
    for (const { resolve: take } of late) take(false);
  }

  /** A slot that comes free serves at once; this is for the next token, other terms, and those whose time is over before. */
  private armTimer(rate: SendRate, terms: SubmitQueueTerms, nowMs: number): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const tokenMs = this.#inFlight < terms.window ? nowMs + waitMs(rate, nowMs) : Infinity;
    const nextMs = Math.min(tokenMs, nowMs + TERMS_EVERY_MS, ...this.#waiting.map(({ dueMs }) => dueMs));
    this.#timer = setTimeout(() => this.startNext(), Math.max(1, Math.ceil(nextMs - nowMs)));
  }

  private rateNow({ perSecond }: SubmitQueueTerms): SendRate {
    const nowMs = performance.now();
    return withLimit(this.#rate ?? initialRate(perSecond, nowMs), perSecond, nowMs);
  }
}
