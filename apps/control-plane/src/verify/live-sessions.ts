import { isTestMode, type Tenant } from '@countersign/keys';
import type { ControlPlaneSettings } from '@countersign/settings';
import { refuse, type Outcome } from '../http/errors.js';

/** Phones in memory at most, of all accounts. The latest half of them is never evicted. */
const MAX_PHONES = 100_000;

export interface LiveSessionsOptions {
  /** Sessions of one phone at one account whose `ttl` is not over; 0 for no limit. */
  readonly perPhone: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
  readonly maxPhones?: number;
}

type LiveSessionsSettings = Pick<ControlPlaneSettings, 'liveSessionsPerPhone'>;

/** The fields of a session that its count needs. */
export interface CountedSession {
  readonly phone: string;
  /** Its `ttl` in seconds. */
  readonly ttl: number;
}

/**
 * Limits the live sessions of one phone at one account: sessions that this process opened, until their `ttl` is over,
 * however they end. Counted in memory, so that a create needs no further statement; each process applies the limit
 * separately. Test sessions have no limit.
 *
 * The cache has two generations: when the newer map is full, the older one is dropped. A create moves its phone to the
 * newer.
 */
export class LiveSessions {
  #latest = new Map<string, readonly number[]>();
  #earlier: ReadonlyMap<string, readonly number[]> = new Map();

  readonly #perPhone: number;
  readonly #nowMs: () => number;
  readonly #maxPhones: number;

  constructor({ perPhone, nowMs = () => performance.now(), maxPhones = MAX_PHONES }: LiveSessionsOptions) {
    this.#perPhone = perPhone;
    this.#nowMs = nowMs;
    this.#maxPhones = maxPhones;
  }

  static ofSettings({ liveSessionsPerPhone: perPhone }: LiveSessionsSettings): LiveSessions {
    return new LiveSessions({ perPhone });
  }

  /** Calls `open` if the phone is below its limit. A session that could not be opened is not counted. */
  open<T>(tenant: Tenant, session: CountedSession, open: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    return this.#perPhone === 0 || isTestMode(tenant) ? open() : this.openWithinLimit(tenant, session, open);
  }

  private async openWithinLimit<T>(
    tenant: Tenant,
    session: CountedSession,
    open: () => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const perPhone = this.#perPhone;
    const key = `${tenant.accountId} ${session.phone}`;
    const now = this.#nowMs();
    const live = this.find(key).filter((endsMs) => endsMs > now);
    if (live.length >= perPhone) {
      this.store(key, live);
      return refuseOverLimit(perPhone, Math.min(...live) - now);
    }
    const endsMs = now + session.ttl * 1000;
    this.store(key, [...live, endsMs]);
    let opened = false;
    try {
      const outcome = await open();
      opened = outcome.ok;
      return outcome;
    } finally {
      if (!opened) this.removeCount(key, endsMs);
    }
  }

  private find(key: string): readonly number[] {
    return this.#latest.get(key) ?? this.#earlier.get(key) ?? [];
  }

  private store(key: string, live: readonly number[]): void {
    this.#latest.set(key, live);
    if (this.#latest.size <= this.#maxPhones / 2) return;
    this.#earlier = this.#latest;
    this.#latest = new Map();
  }

  private removeCount(key: string, endsMs: number): void {
    const live = this.find(key);
    const at = live.indexOf(endsMs);
    if (at !== -1) this.store(key, live.toSpliced(at, 1));
  }
}

const refuseOverLimit = (perPhone: number, leftMs: number): Outcome<never> =>
  refuse('RATE_LIMITED', {
    message: `This phone has ${perPhone} sessions whose time is not over, and may have no more at a time.`,
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
  });
