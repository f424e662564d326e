import { doubledMs, withJitterMs } from '@countersign/resilience';

/** Delays between attempts of one bind connection, as pure functions: time and randomness are arguments. */

/** First delay after a link that could not be opened or was lost. */
export const RECONNECT_FIRST_MS = 500;
/** Longest delay: a carrier that is reachable again is bound within it, its jitter and one connect timeout. */
export const RECONNECT_CAP_MS = 10_000;
/** First delay after a refused bind; longer than after a failure, because carriers lock accounts that retry often. */
export const STANDOFF_FIRST_MS = 10_000;
export const STANDOFF_CAP_MS = 300_000;
/** A link bound for this long resets the counters of failures and refusals. */
export const STABLE_MS = 60_000;
/** Delay of an attempt to return to the preferred host; doubled by each that was refused there. */
export const FAILBACK_FIRST_MS = 20_000;
export const FAILBACK_CAP_MS = 600_000;

/** Statuses of a bind_resp that cause a standoff: already bound, bind failed, wrong password, unknown system_id. */
const STANDOFF_STATUSES: ReadonlySet<number> = new Set([0x05, 0x0d, 0x0e, 0x0f]);

/** State of one bind connection between attempts. */
export interface ReconnectState {
  /** Failures since the last stable link. */
  readonly failures: number;
  /** Consecutive refusals. */
  readonly refusals: number;
  /** Refused returns to the preferred host since the last stable link. */
  readonly failbackRefusals: number;
  /** Index of the host that is bound, or tried next. */
  readonly host: number;
  /** Index of the host that was unbound for the next attempt; null if the link was lost, or there was none. */
  readonly leftHost: number | null;
}

export type AttemptEnd =
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'lost'; readonly boundMs: number }
  /** Unbound by us, to bind at the host with this index. */
  | { readonly kind: 'moved'; readonly host: number };

export interface NextAttempt {
  readonly state: ReconnectState;
  readonly waitMs: number;
  readonly standoff: boolean;
}

export const INITIAL_STATE: ReconnectState = {
  failures: 0,
  refusals: 0,
  failbackRefusals: 0,
  host: 0,
  leftHost: null,
};

/** Index of the preferred host of the connection with this slot number: the connections of a bind are spread over its hosts. */
export function preferredHost(slot: number, hosts: number): number {
  return slot % Math.max(1, hosts);
}

/** Initial state of the connection with this slot number. */
export function initialState(slot: number, hosts: number): ReconnectState {
  return { ...INITIAL_STATE, host: preferredHost(slot, hosts) };
}

/** Delay of the next attempt to return to the preferred host. `random` is in [0, 1). */
export function failbackWaitMs({ failbackRefusals }: ReconnectState, random: number): number {
  return withJitterMs(doubledMs(FAILBACK_FIRST_MS, FAILBACK_CAP_MS, failbackRefusals + 1), random);
}

/** After the preferred host has refused a bind. */
export function afterRefusedFailback(state: ReconnectState): ReconnectState {
  return { ...state, failbackRefusals: state.failbackRefusals + 1 };
}

/**
 * The next attempt after the end of one, at the next host. At once after an unbind for it, and, if it then fails, at once
 * at the host that was unbound, which served. `random` is in [0, 1).
 */
export function afterAttempt(state: ReconnectState, end: AttemptEnd, hosts: number, random: number): NextAttempt {
  if (end.kind === 'moved') return atOnce({ ...state, host: end.host, leftHost: state.host });
  if (end.kind !== 'lost' && state.leftHost !== null) return atOnce({ ...state, host: state.leftHost, leftHost: null });
  const host = (state.host + 1) % Math.max(1, hosts);
  if (end.kind === 'refused' && STANDOFF_STATUSES.has(end.status)) {
    const refusals = state.refusals + 1;
    const waitMs = withJitterMs(doubledMs(STANDOFF_FIRST_MS, STANDOFF_CAP_MS, refusals), random);
    return { state: { ...state, refusals, host }, waitMs, standoff: true };
  }
  const wasStable = end.kind === 'lost' && end.boundMs >= STABLE_MS;
  const before = wasStable ? INITIAL_STATE : state;
  const failures = before.failures + 1;
  const waitMs = withJitterMs(doubledMs(RECONNECT_FIRST_MS, RECONNECT_CAP_MS, failures), random);
  return { state: { ...before, failures, host, leftHost: null }, waitMs, standoff: false };
}

const atOnce = (state: ReconnectState): NextAttempt => ({ state, waitMs: 0, standoff: false });
