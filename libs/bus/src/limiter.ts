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
/** Two answers about one window differ by less in its end. */
const SAME_WINDOW_MS = 1_000;
/** Keys whose last count by the store is remembered, some 200 octets each. The least recently counted is dropped first. */
const MAX_REMEMBERED_KEYS = 20_000;

/** The requests for one key in one turn. */
interface Share {
  readonly key: string;
  readonly windowSeconds: number;
  readonly waiting: PendingRequest[];
  points: number;
  /** Points that were counted here before and that this call reports to the store. */
  owed: number;
  answered: boolean;
}

/** The points of a key in its window, as far as this process knows: the sum of both. */
interface LastCount {
  /** Points by the last answer of the store. */
  stored: number;
  /** Points that only this process has counted: the next call adds them in the store. */
  owed: number;
  /** Monotonic milliseconds. */
  endsMs: number;
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
  /** Each process has a key of its own, so values stored by others do not make its probes fail. */
  readonly #probeKey = `probe:${randomUUID()}`;
  #shares = new Map<string, Share>();
  /**
   * The last count of each key, until its window ends. Counting here goes on from the count of the store, and the store
   * goes on from the count here, so that a burst that the store is too slow for gets its quota once, not twice.
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
      share = { key, windowSeconds, waiting: [], points: 0, owed: 0, answered: false };
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
    const known = this.#known(key);
    return known === undefined ? null : known.stored + known.owed;
  }

  /** Checks whether the store is available, so that the first request does not have to. Never rejects. */
  async probeOnce(): Promise<void> {
    await this.#countInStore([
      { key: this.#probeKey, windowSeconds: PROBE_WINDOW_SECONDS, waiting: [], points: 0, owed: 0, answered: false },
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
    const { key, points, windowSeconds } = share;
    const known = this.#known(key);
    if (known !== undefined) {
      share.owed = known.owed;
      known.owed = 0;
    }
    try {
      const { consumed, resetMs } = await this.#options.store.add(key, points + share.owed, windowSeconds);
      // The points of a call that is answered late were counted here too.
      if (share.answered) this.#settleLate(share, consumed);
      else resolveShare(share, { consumed: this.#noteStored(share, consumed, resetMs), resetMs }, false);
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

  /** The fallback counts as well, for keys that are not remembered any more. */
  #countLocally(share: Share): void {
    const { key, points, windowSeconds, owed } = share;
    void this.#options.fallback.add(key, points, windowSeconds).then(({ consumed, resetMs }) => {
      const known = points + owed === 0 ? this.#known(key) : this.#remember(key, resetMs);
      if (known !== undefined) known.owed += points + owed;
      const all = known === undefined ? 0 : known.stored + known.owed;
      resolveShare(share, { consumed: Math.max(consumed, all), resetMs }, true);
    });
  }

  /** Notes the answer of the store; returns the points of the key, with those that are counted here meanwhile. */
  #noteStored({ key, points, owed }: Share, consumed: number, resetMs: number): number {
    if (points + owed === 0) return consumed + (this.#known(key)?.owed ?? 0);
    const known = this.#remember(key, resetMs);
    const endsMs = performance.now() + resetMs;
    // Answers may overtake each other: within one window the largest is the last.
    known.stored = endsMs - known.endsMs > SAME_WINDOW_MS ? consumed : Math.max(known.stored, consumed);
    known.endsMs = endsMs;
    return consumed + known.owed;
  }

  /** The store has counted what was counted here for it meanwhile. */
  #settleLate({ key, points, owed }: Share, consumed: number): void {
    const known = this.#known(key);
    if (known === undefined) return;
    known.stored = Math.max(known.stored, consumed);
    known.owed = Math.max(known.owed - points - owed, 0);
  }

  /** The entry of a key whose window still runs. */
  #known(key: string): LastCount | undefined {
    const known = this.#counted.get(key);
    return known !== undefined && performance.now() < known.endsMs ? known : undefined;
  }

  /** As `#known`, and a new one if there is none. */
  #remember(key: string, resetMs: number): LastCount {
    const known = this.#known(key);
    if (known !== undefined) return known;
    const entry = { stored: 0, owed: 0, endsMs: performance.now() + resetMs };
    this.#counted.set(key, entry);
    return entry;
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
