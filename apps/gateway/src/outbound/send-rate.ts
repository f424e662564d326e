/**
 * Send rate of a connection: a token bucket filled at the present rate. The rate is halved when the carrier throttles and
 * rises again while it does not. Immutable: every function returns a new value. Times are milliseconds of a monotonic clock.
 */
export interface SendRate {
  /** Agreed messages per second. */
  readonly limit: number;
  /** Present messages per second. */
  readonly perSecond: number;
  readonly tokens: number;
  readonly filledMs: number;
  /** Time of the last halving. */
  readonly slowedMs: number;
  /** Time of the next increase. */
  readonly increaseMs: number;
}

/** Capacity of the bucket as time at the rate; small, because carriers count messages in any second. */
const BURST_MS = 20;
/** At most one halving in this time: carriers count per second, and one burst must not halve the rate repeatedly. */
const HALVE_EVERY_MS = 1_000;
/** Lower bound of the halved rate, unless the agreed rate is lower. */
const FLOOR_PER_SECOND = 1;
const INCREASE_EVERY_MS = 5_000;
/** Increase as a share of the agreed rate. */
const INCREASE_SHARE = 0.1;
const MS_PER_SECOND = 1_000;

/** The agreed rate, with one token. */
export function initialRate(limit: number, nowMs: number): SendRate {
  return { limit, perSecond: limit, tokens: 1, filledMs: nowMs, slowedMs: -Infinity, increaseMs: Infinity };
}

/** The rate with another agreed limit; a reduced rate keeps its proportion to the limit. */
export function withLimit(rate: SendRate, limit: number, nowMs: number): SendRate {
  if (limit === rate.limit) return rate;
  const current = rateAt(rate, nowMs);
  const perSecond = Math.max(floorOf(limit), (current.perSecond / current.limit) * limit);
  return { ...current, limit, perSecond, tokens: Math.min(current.tokens, capacityOf(perSecond)) };
}

/** The rate at `nowMs`: due increases applied, and the bucket filled. */
export function rateAt(rate: SendRate, nowMs: number): SendRate {
  let current = rate;
  // Each step adds a tenth: at most ten steps.
  while (current.increaseMs <= nowMs) current = increased(filled(current, current.increaseMs));
  return filled(current, nowMs);
}

/** The rate after taking one token; null when there is none. */
export function tokenTaken(rate: SendRate, nowMs: number): SendRate | null {
  const current = rateAt(rate, nowMs);
  return current.tokens < 1 ? null : { ...current, tokens: current.tokens - 1 };
}

/** Milliseconds until a token is available; 0 when one is. */
export function waitMs(rate: SendRate, nowMs: number): number {
  const { tokens, perSecond } = rateAt(rate, nowMs);
  return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * MS_PER_SECOND;
}

/**
 * The rate after a throttle response to a message sent at `sentMs`. A message sent before the last halving, or shortly after
 * it, does not halve the rate again, and only delays the next increase.
 */
export function slowed(rate: SendRate, sentMs: number, nowMs: number): SendRate {
  const current = { ...rateAt(rate, nowMs), increaseMs: nowMs + INCREASE_EVERY_MS };
  if (sentMs < current.slowedMs + HALVE_EVERY_MS) return current;
  const perSecond = Math.max(floorOf(current.limit), current.perSecond / 2);
  return { ...current, perSecond, tokens: 0, slowedMs: nowMs };
}

function filled(rate: SendRate, nowMs: number): SendRate {
  if (nowMs <= rate.filledMs) return rate;
  const gained = ((nowMs - rate.filledMs) / MS_PER_SECOND) * rate.perSecond;
  return { ...rate, tokens: Math.min(capacityOf(rate.perSecond), rate.tokens + gained), filledMs: nowMs };
}

function increased(rate: SendRate): SendRate {
  const perSecond = Math.min(rate.limit, rate.perSecond + rate.limit * INCREASE_SHARE);
  return { ...rate, perSecond, increaseMs: perSecond < rate.limit ? rate.increaseMs + INCREASE_EVERY_MS : Infinity };
}

const capacityOf = (perSecond: number): number => Math.max(1, (perSecond * BURST_MS) / MS_PER_SECOND);
const floorOf = (limit: number): number => Math.min(FLOOR_PER_SECOND, limit);
