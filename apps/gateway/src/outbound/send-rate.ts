/**
 * How fast a connection may send: a bucket that is filled at the present rate, which is halved when the carrier asks for
 * less and climbs back while it does not. A value: every function answers a new one. Times are monotonic milliseconds.
 */
export interface SendRate {
  /** Messages a second that were agreed on. */
  readonly limit: number;
  /** Messages a second now. */
  readonly perSecond: number;
  readonly tokens: number;
  readonly filledMs: number;
  /** When it was last halved. */
  readonly slowedMs: number;
  /** When it climbs next. */
  readonly increaseMs: number;
}

/** The bucket holds no more than this time's worth: "fifty a second" is counted by carriers in any second. */
const BURST_MS = 20;
/** Carriers count by the second: no more than one halving in this time, or one burst would stop everything. */
const HALVE_EVERY_MS = 1_000;
/** Halved no further than this, unless less was agreed on. */
const FLOOR_PER_SECOND = 1;
const INCREASE_EVERY_MS = 5_000;
/** Of what was agreed on. */
const INCREASE_SHARE = 0.1;
const MS_PER_SECOND = 1_000;

/** At the agreed rate, with one message to send at once. */
export function initialRate(limit: number, nowMs: number): SendRate {
  return { limit, perSecond: limit, tokens: 1, filledMs: nowMs, slowedMs: -Infinity, increaseMs: Infinity };
}

/** Another rate was agreed on: a connection that was slowed down stays so, in proportion. */
export function withLimit(rate: SendRate, limit: number, nowMs: number): SendRate {
  if (limit === rate.limit) return rate;
  const current = rateAt(rate, nowMs);
  const perSecond = Math.max(floorOf(limit), (current.perSecond / current.limit) * limit);
  return { ...current, limit, perSecond, tokens: Math.min(current.tokens, capacityOf(perSecond)) };
}

/** The rate at that moment: climbed, and the bucket filled. */
export function rateAt(rate: SendRate, nowMs: number): SendRate {
  let current = rate;
  // A tenth each time: ten steps at most.
  while (current.increaseMs <= nowMs) current = increased(filled(current, current.increaseMs));
  return filled(current, nowMs);
}

/** With one message less to send; null while none may be sent. */
export function tokenTaken(rate: SendRate, nowMs: number): SendRate | null {
  const current = rateAt(rate, nowMs);
  return current.tokens < 1 ? null : { ...current, tokens: current.tokens - 1 };
}

/** How long until a message may be sent; 0 when one may be now. */
export function waitMs(rate: SendRate, nowMs: number): number {
  const { tokens, perSecond } = rateAt(rate, nowMs);
  return tokens >= 1 ? 0 : ((1 - tokens) / perSecond) * MS_PER_SECOND;
}

/**
 * The carrier asked for less in its answer to a message sent at `sentMs`. What was sent before the last halving, or just
 * after it, says nothing new, and only keeps the rate from climbing.
 */
export function slowed(rate: SendRate, sentMs: number, nowMs: number): SendRate {
  const current = { ...rateAt(rate, nowMs), climbMs: nowMs + INCREASE_EVERY_MS };
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
