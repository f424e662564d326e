import { NotSentError } from '@countersign/smpp/link';
import type { ResponsePdu } from '@countersign/smpp/pdu';
import { isThrottle } from '../links/throttle.js';
import { SendRate } from './send-rate.js';

/** Maximum reserved attempts of one connection, in windows: bounds the waiting time without leaving the connection idle. */
const WINDOWS_AHEAD = 4;
/** Attempts wait about this time at most, also at a low rate. */
const SECONDS_AHEAD = 1;
const MS_PER_SECOND = 1_000;
/** Interval at which terms are read again while attempts wait: window, rate, or a lost connection. */
const TERMS_EVERY_MS = 250;
/** Bounds of the delay before a full queue is tried again. */
const LEAST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

/** Window and rate of a connection, from its row. */
export interface SubmitQueueTerms {
  readonly window: number;
  /** The connection's share of the bind's rate. */
  readonly perSecond: number;
}

interface WaitingSubmit {
  readonly dueMs: number;
  readonly resolve: (sends: boolean) => void;
}

/**
 * Queue of the submits of one connection. Codes wait here instead of in the link, so that none is sent after its session
 * ended or above the rate. enquire_link, responses and unbind bypass the queue. Attempts are reserved before they wait, so
 * the reservation bounds the length of the queue.
 */
export class SubmitQueue {
  #reserved = 0;
  #inFlight = 0;
  #rate: SendRate | null = null;
  #waiting: WaitingSubmit[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `terms` returns null while the connection cannot send. */
  constructor(private readonly terms: () => SubmitQueueTerms | null) {}

  /** No attempt is reserved, and the rate is not reduced. */
  get isIdle(): boolean {
    if (this.#reserved > 0) return false;
    return this.#rate?.isReduced(performance.now()) !== true;
  }

  /** Number of attempts that can be reserved beyond `planned`; below 1 for none. */
  capacityBeyond(planned: number): number {
    const terms = this.terms();
    if (terms === null) return 0;
    const soon = this.#inFlight + Math.max(1, Math.ceil(this.perSecondOf(terms) * SECONDS_AHEAD));
    return Math.min(terms.window * WINDOWS_AHEAD, soon) - this.#reserved - planned;
  }

  /** Delay before a full queue is tried again: the time in which half of the reserved attempts are sent. */
  get pauseMs(): number {
    const terms = this.terms();
    if (terms === null) return LONGEST_PAUSE_MS;
    const halfMs = (this.#reserved / 2 / this.perSecondOf(terms)) * MS_PER_SECOND;
    return Math.min(LONGEST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, halfMs));
  }

  /** Present messages per second; null while the connection cannot send. */
  get perSecond(): number | null {
    const terms = this.terms();
    return terms === null ? null : this.perSecondOf(terms);
  }

  reserve(): void {
    this.#reserved++;
  }

  release(): void {
    this.#reserved--;
  }

  /**
   * Calls `send` when a window slot is free and the rate allows it. Rejects with NotSentError when that takes longer than
   * `withinMs` or the connection is lost; otherwise settles as `send` does.
   */
  async submit(withinMs: number, send: () => Promise<ResponsePdu>): Promise<ResponsePdu> {
    if (!(await this.waitForTurn(withinMs))) throw new NotSentError('no window slot or token in time');
    const sentMs = performance.now();
    try {
      const answer = await send();
      if (isThrottle(answer)) this.#rate?.slow(sentMs, performance.now());
      return answer;
    } finally {
      this.#inFlight--;
      this.startNext();
    }
  }

  private waitForTurn(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push({ dueMs: performance.now() + withinMs, resolve });
      this.startNext();
    });
  }

  private startNext(): void {
    const nowMs = performance.now();
    const terms = this.terms();
    this.rejectExpired(terms === null ? Infinity : nowMs);
    if (terms === null) return;
    this.#rate ??= new SendRate(terms.perSecond, nowMs);
    this.#rate.setLimit(terms.perSecond, nowMs);
    while (this.#inFlight < terms.window && this.#waiting.length > 0 && this.#rate.takeToken(nowMs)) {
      this.#inFlight++;
      this.#waiting.shift()?.resolve(true);
    }
    this.armTimer(this.#rate, terms, nowMs);
  }

  /** Rejects attempts whose time limit is at or before `byMs`. */
  private rejectExpired(byMs: number): void {
    const late = this.#waiting.filter(({ dueMs }) => dueMs <= byMs);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ dueMs }) => dueMs > byMs);
    for (const { resolve } of late) resolve(false);
  }

  /** Sets the timer for the next token, read of terms or expiry. A freed window slot needs no timer. */
  private armTimer(rate: SendRate, terms: SubmitQueueTerms, nowMs: number): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    const tokenMs = this.#inFlight < terms.window ? nowMs + rate.waitMs(nowMs) : Infinity;
    const nextMs = Math.min(tokenMs, nowMs + TERMS_EVERY_MS, ...this.#waiting.map(({ dueMs }) => dueMs));
    this.#timer = setTimeout(() => this.startNext(), Math.max(1, Math.ceil(nextMs - nowMs)));
  }

  /** Present messages per second under these terms. */
  private perSecondOf({ perSecond }: SubmitQueueTerms): number {
    if (this.#rate === null) return perSecond;
    const nowMs = performance.now();
    this.#rate.setLimit(perSecond, nowMs);
    return this.#rate.perSecond(nowMs);
  }
}
