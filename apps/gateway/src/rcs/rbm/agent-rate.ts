/**
 * The send rate of one agent on this gateway: a token bucket with a capacity of one second, refilled at a rate that is
 * halved when the platform throttles and recovers linearly. An immutable value; times are monotonic milliseconds.
 */
export interface AgentRate {
  readonly perSecond: number;
  readonly tokens: number;
  readonly filledMs: number;
  /** When the rate was last halved. */
  readonly slowedMs: number;
}

/** The platform publishes no limit; this one guards against faults of our own. */
export const CARDS_PER_SECOND = 1_000;
const FLOOR_PER_SECOND = 1;
/** Increase of the rate per second after it was halved. */
const RECOVERY_PER_SECOND = CARDS_PER_SECOND / 50;
/** Throttle answers within this time count as one. */
const HALVE_INTERVAL_MS = 1_000;
const MS_PER_SECOND = 1_000;

export function initialRate(nowMs: number): AgentRate {
  return { perSecond: CARDS_PER_SECOND, tokens: CARDS_PER_SECOND, filledMs: nowMs, slowedMs: -Infinity };
}

/** The rate after taking a token; null when the bucket is empty. */
export function takeToken(rate: AgentRate, nowMs: number): AgentRate | null {
  const current = refill(rate, nowMs);
  return current.tokens < 1 ? null : { ...current, tokens: current.tokens - 1 };
}

/** The rate after a throttle answer. */
export function halveRate(rate: AgentRate, nowMs: number): AgentRate {
  const current = refill(rate, nowMs);
  if (nowMs < current.slowedMs + HALVE_INTERVAL_MS) return current;
  const perSecond = Math.max(FLOOR_PER_SECOND, current.perSecond / 2);
  return { ...current, perSecond, tokens: Math.min(current.tokens, perSecond), slowedMs: nowMs };
}

function refill(rate: AgentRate, nowMs: number): AgentRate {
  if (nowMs <= rate.filledMs) return rate;
  const seconds = (nowMs - rate.filledMs) / MS_PER_SECOND;
  const perSecond = Math.min(CARDS_PER_SECOND, rate.perSecond + RECOVERY_PER_SECOND * seconds);
  // Tokens accrue at the previous rate; the recovered rate applies from now on.
  const tokens = Math.min(perSecond, rate.tokens + rate.perSecond * seconds);
  return { ...rate, perSecond, tokens, filledMs: nowMs };
}
