import { LRUCache } from 'lru-cache';

/** So many points in a window that begins with its first point. */
export interface Quota {
  readonly limit: number;
  readonly windowSeconds: number;
}

/** How a key stands after its points were counted. */
export interface Standing {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until the window ends and the count begins anew; at least 1 ms. */
  readonly resetMs: number;
  /** The store is away: this process alone has counted. */
  readonly away: boolean;
}

/** What a key has used of its window, the points just added included. */
export interface Count {
  readonly consumed: number;
  readonly resetMs: number;
}

/** Counters that begin anew when their window is over. One conformance suite runs on every adapter. */
export interface LimiterStore {
  /** Adds points to a key, atomically, and begins its window if there is none. Rejects when the store is away. */
  add(key: string, points: number, windowSeconds: number): Promise<Count>;
  close(): Promise<void>;
}

/** From the first request of a turn to the moment when its store is given up; no request waits longer. */
export const LIMITER_PATIENCE_MS = 300;
/** How often a store that is away is looked for. */
const PROBE_EVERY_MS = 250;
const PROBE_KEY = 'probe';
const PROBE_WINDOW_SECONDS = 60;
/** Keys whose last count by the store is remembered, some 200 octets each. The least recently counted is dropped first. */
const MAX_REMEMBERED_KEYS = 20_000;

/** What is asked about one key in one turn. */
interface Share {
  readonly key: string;
  readonly windowSeconds: number;
  readonly waiting: Waiting[];
  points: number;
  answered: boolean;
}

interface Waiting {
  readonly limit: number;
  /** The points of the share up to this request, its own included. */
  readonly upTo: number;
  readonly resolve: (standing: Standing) => void;
}

export interface LimiterOptions {
  readonly store: LimiterStore;
  /** Counts while the store is away: the same quotas, for this process alone. */
  readonly fallback: LimiterStore;
  /** Hears when the store goes away, once each time. */
  readonly onError: (error: unknown) => void;
}

/**
 * Counts requests against quotas, for all processes together. Requests of one turn of the event loop that ask about the
 * same key share one call to the store and split its answer exactly. A store that does not answer in time is away from
 * then on: nobody waits for it until a probe has found it again.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  #shares = new Map<string, Share>();
  /**
   * What the store last counted of a key, until its window ends. A key that is counted here goes on from there, so that a
   * burst that the store is too slow for gets its quota once, not twice.
   */
  readonly #counted = new LRUCache<string, { readonly consumed: number; readonly endsMs: number }>({
    max: MAX_REMEMBERED_KEYS,
  });
  #away = false;
  #closed = false;
  #probeTimer: NodeJS.Timeout | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** Whether this process counts alone at the moment. */
  get away(): boolean {
    return this.#away;
  }

  /**
   * Counts `points` (0 only looks) for a key, whose window must be the same at every call. Points count even when they
   * are refused. Never rejects, and answers within half a second.
   */
  consume(key: string, points: number, { limit, windowSeconds }: Quota): Promise<Standing> {
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

  /** Looks whether the store is there, so that the first request need not find out. Never rejects. */
  async open(): Promise<void> {
    await this.#ask([{ key: PROBE_KEY, windowSeconds: PROBE_WINDOW_SECONDS, waiting: [], points: 0, answered: false }]);
  }

  /** What still asks is answered by this process. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#away = true;
    clearTimeout(this.#probeTimer);
    await this.#options.store.close();
  }

  #flush(): void {
    const shares = [...this.#shares.values()];
    this.#shares = new Map();
    if (this.#away) for (const share of shares) this.#countHere(share);
    else void this.#ask(shares);
  }

  async #ask(shares: readonly Share[]): Promise<void> {
    const timer = setTimeout(() => {
      // When this process itself was busy for so long, the answer may be there and only unread: reading comes first.
      setImmediate(() => this.#giveUp(shares));
    }, LIMITER_PATIENCE_MS);
    await Promise.all(shares.map((share) => this.#askFor(share)));
    clearTimeout(timer);
  }

  async #askFor(share: Share): Promise<void> {
    try {
      const { key, points, windowSeconds } = share;
      const count = await this.#options.store.add(key, points, windowSeconds);
      if (points > 0 && !share.answered) {
        this.#counted.set(key, { consumed: count.consumed, endsMs: performance.now() + count.resetMs });
      }
      answer(share, count, false);
    } catch (error) {
      if (share.answered) return;
      this.#leave(error);
      this.#countHere(share);
    }
  }

  #giveUp(shares: readonly Share[]): void {
    const late = shares.filter(({ answered }) => !answered);
    if (late.length === 0) return;
    this.#leave(new Error(`the limiter's store did not answer within ${LIMITER_PATIENCE_MS} ms`));
    for (const share of late) this.#countHere(share);
  }

  #countHere(share: Share): void {
    const { key, points, windowSeconds } = share;
    const counted = this.#counted.get(key);
    this.#counted.delete(key);
    const before = counted !== undefined && performance.now() < counted.endsMs ? counted.consumed : 0;
    void this.#options.fallback.add(key, before + points, windowSeconds).then((count) => answer(share, count, true));
  }

  #leave(error: unknown): void {
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

  /** A write, since a store that can only be read does not count. */
  async #probe(): Promise<void> {
    try {
      await this.#options.store.add(PROBE_KEY, 0, PROBE_WINDOW_SECONDS);
      this.#away = this.#closed;
    } catch {
      this.#probeSoon();
    }
  }
}

/** Splits a count among those who share it, in the order in which they came. The second answer to a share is dropped. */
function answer(share: Share, { consumed, resetMs }: Count, away: boolean): void {
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
