/**
 * How fast cards of one agent may go out from here: a bucket that holds a second's worth, filled at a rate that is halved
 * when the platform asks for less and climbs back while it does not. A value: every function answers a new one. Times are
 * monotonic milliseconds.
 */
export interface AgentRate {
  readonly perSecond: number;
  readonly tokens: number;
  readonly filledMs: number;
  /** When it was last halved. */
  readonly slowedMs: number;
}

/** The platform publishes no limit; this is one against a fault of ours. */
export const CARDS_PER_SECOND = 1_000;
const FLOOR_PER_SECOND = 1;
/** Gained a second, after the platform asked for less. */
const CLIMB_PER_SECOND = CARDS_PER_SECOND / 50;
/** Many answers to one burst are one request for less. */
const HALVE_EVERY_MS = 1_000;
const MS_PER_SECOND = 1_000;

export function initialRate(nowMs: number): AgentRate {
  return { perSecond: CARDS_PER_SECOND, tokens: CARDS_PER_SECOND, filledMs: nowMs, slowedMs: -Infinity };
}

/** With one card less to send; null while none may be sent. */
export function spent(pace: AgentRate, nowMs: number): AgentRate | null {
  const current = at(pace, nowMs);
  return current.tokens < 1 ? null : { ...current, tokens: current.tokens - 1 };
}

/** The platform asked for less. */
export function slowed(pace: AgentRate, nowMs: number): AgentRate {
  const current = at(pace, nowMs);
  if (nowMs < current.slowedMs + HALVE_EVERY_MS) return current;
  const perSecond = Math.max(FLOOR_PER_SECOND, current.perSecond / 2);
  return { ...current, perSecond, tokens: Math.min(current.tokens, perSecond), slowedMs: nowMs };
}

function at(pace: AgentRate, nowMs: number): AgentRate {
  if (nowMs <= pace.filledMs) return pace;
  const seconds = (nowMs - pace.filledMs) / MS_PER_SECOND;
  const perSecond = Math.min(CARDS_PER_SECOND, pace.perSecond + CLIMB_PER_SECOND * seconds);
  // At the rate that it had: what it climbed by counts from now on.
  const tokens = Math.min(perSecond, pace.tokens + pace.perSecond * seconds);
  return { ...pace, perSecond, tokens, filledMs: nowMs };
}
