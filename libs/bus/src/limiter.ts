import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** So many points in a window that begins with its first point. */
export interface Quota {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The state of a key after its points were counted. */
export interface QuotaResult {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Time until the window ends and the count restarts; at least 1 ms. */
  readonly resetMs: number;
  /** The store is unavailable: only this process counted. */
  readonly away: boolean;
}

/** The points of a key in its window, including those just added. */
export interface Count {
  readonly consumed: number;
  readonly resetMs: number;
}

/** Counters that restart when their window ends. One conformance suite runs on every adapter. */
export interface LimiterStore {
  /**
   * Adds points to a key, atomically, and begins its window if there is none. Rejects when the store is unavailable.
   */
  add(key: string, points: number, windowSeconds: number): Promise<Count>;
  close(): Promise<void>;
}

/** Timeout of the store, from the first request of a turn; no request waits longer. */
export const LIMITER_TIMEOUT_MS = 300;
/** Interval of probes while the store is unavailable. */
const PROBE_EVERY_MS = 250;
const PROBE_WINDOW_SECONDS = 60;
/** Keys whose last count by the store is remembered, some 200 octets each. The least recently counted is dropped first. */
const MAX_REMEMBERED_KEYS = 20_000;

/** The requests for one key in one turn. */
interface Share {
  readonly key: string;
  readonly windowSeconds: number;
  readonly waiting: PendingRequest[];
  points: number;
  answered: boolean;
}

interface LastCount {
  consumed: number;
  /** Monotonic milliseconds. */
  endsMs: number;
  /** Counted by this process alone. */
  away: boolean;
}

interface PendingRequest {
  readonly limit: number;
  /** Points of the share up to and including this request. */
  readonly upTo: number;
  readonly resolve: (result: QuotaResult) => void;
}

export interface LimiterOptions {
  readonly store: LimiterStore;
  /** Counts while the store is unavailable: the same quotas, for this process only. */
  readonly fallback: LimiterStore;
  /** Called when the store becomes unavailable, once each time. */
  readonly onError: (error: unknown) => void;
}

/**
 * Counts requests against quotas shared by all processes. Requests of one event loop turn for the same key share one
 * call to the store and split its result exactly. A store that does not answer in time is considered unavailable: no
 * request waits for it until a probe succeeds.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  /** Of this process alone: what others store under their keys does not make its probes fail. */
  readonly #probeKey = `probe:${randomUUID()}`;
  #shares = new Map<string, Share>();
  /**
   * The last count of each key, until its window ends. A key that the store counted and that is counted here goes on from
   * there, so that a burst that the store is too slow for gets its quota once, not twice.
   */
  readonly #counted = new LRUCache<string, LastCount>({ max: MAX_REMEMBERED_KEYS });
  #away = false;
  #closed = false;
  #probeTimer: NodeJS.Timeout | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** Whether this process is counting locally. */
  get away(): boolean {
    return this.#away;
  }

  /**
   * Counts `points` (0 only reads) for a key, whose window must be the same in every call. Points count even when
   * they are refused. Never rejects, and resolves within half a second.
   */
  consume(key: string, points: number, { limit, windowSeconds }: Quota): Promise<QuotaResult> {
    if (this.#shares.size === 0) setImmediate(() => this.#flush());
    let share = this.#shares.get(key);
    if (share === undefined) {
      share = { key, windowSeconds, waiting: [], points: 0, answered: false };
      this.#shares.set(key, share);
    }
    share.points += points;
    const { waiting, points: upTo } = share;
    return new Promise((resolve) => waiting.push({ limit, upTo, resolve }));
  }

  /**
   * The points of a key as this process last saw them, in the window that still runs; null if it has seen none. Creates no
   * counter.
   */
  lastConsumed(key: string): number | null {
    const counted = this.#counted.get(key);
    return counted !== undefined && performance.now() < counted.endsMs ? counted.consumed : null;
  }

  /** Checks whether the store is available, so that the first request does not have to. Never rejects. */
  async probeOnce(): Promise<void> {
    await this.#countInStore([
      { key: this.#probeKey, windowSeconds: PROBE_WINDOW_SECONDS, waiting: [], points: 0, answered: false },
    ]);
  }

  /** Pending requests are then counted by this process. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#away = true;
    clearTimeout(this.#probeTimer);
    await this.#options.store.close();
  }

  #flush(): void {
    const shares = [...this.#shares.values()];
    this.#shares = new Map();
    if (this.#away) for (const share of shares) this.#countLocally(share);
    else void this.#countInStore(shares);
  }

  async #countInStore(shares: readonly Share[]): Promise<void> {
    const timer = setTimeout(() => {
      // If this process itself was busy, the response may be received but not read yet: let it be read first.
      setImmediate(() => this.#timeOut(shares));
    }, LIMITER_TIMEOUT_MS);
    await Promise.all(shares.map((share) => this.#countShare(share)));
    clearTimeout(timer);
  }

  async #countShare(share: Share): Promise<void> {
    try {
      const { key, points, windowSeconds } = share;
      const count = await this.#options.store.add(key, points, windowSeconds);
      if (points > 0 && !share.answered) this.#remember(key, count, false);
      resolveShare(share, count, false);
    } catch (error) {
      if (share.answered) return;
      this.#markUnavailable(error);
      this.#countLocally(share);
    }
  }

  #timeOut(shares: readonly Share[]): void {
    const late = shares.filter(({ answered }) => !answered);
    if (late.length === 0) return;
    this.#markUnavailable(new Error(`the limiter's store did not answer within ${LIMITER_TIMEOUT_MS} ms`));
    for (const share of late) this.#countLocally(share);
  }

  #countLocally(share: Share): void {
    const { key, points, windowSeconds } = share;
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    const goesOn = counted !== undefined && !counted.away && performance.now() < counted.endsMs;
    void this.#options.fallback.add(key, (goesOn ? counted.consumed : 0) + points, windowSeconds).then((count) => {
      if (points > 0) this.#remember(key, count, true);
      resolveShare(share, count, true);
    });
  }

  /** Called for every counted request: writes into the key's entry instead of replacing it. */
  #remember(key: string, { consumed, resetMs }: Count, away: boolean): void {
    const endsMs = performance.now() + resetMs;
    const counted = this.#counted.get(key);
    if (counted === undefined) {
      this.#counted.set(key, { consumed, endsMs, away });
    } else {
      counted.consumed = consumed;
      counted.endsMs = endsMs;
      counted.away = away;
    }
  }

  #markUnavailable(error: unknown): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    this.#options.onError(error);
    this.#probeSoon();
  }

  #probeSoon(): void {
    if (this.#closed) return;
    this.#probeTimer = setTimeout(() => void this.#probe(), PROBE_EVERY_MS);
    this.#probeTimer.unref();
  }

  /** A write, since a read-only store cannot count. */
  async #probe(): Promise<void> {
    try {
      await this.#options.store.add(this.#probeKey, 0, PROBE_WINDOW_SECONDS);
      this.#away = this.#closed;
    } catch {
      this.#probeSoon();
    }
  }
}

/** Splits a count among the requests of a share, in order. A second result for a share is ignored. */
function resolveShare(share: Share, { consumed, resetMs }: Count, away: boolean): void {
  if (share.answered) return;
  share.answered = true;
  const before = consumed - share.points;
  for (const { limit, upTo, resolve } of share.waiting) {
    const used = before + upTo;
    resolve({
      allowed: used <= limit,
      remaining: Math.max(limit - used, 0),
      resetMs: Math.max(resetMs, 1),
      away,
    });
  }
}
