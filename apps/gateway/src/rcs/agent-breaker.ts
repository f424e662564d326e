import { doubledMs, withJitterMs } from '@countersign/resilience';

/**
 * Whether an agent may send: a value, every function answers a new one. Times are monotonic milliseconds.
 * Closed until a number of sends fail in a row, or one is forbidden; then open, for longer each time; then one send at a
 * time is the probe that decides.
 */
export interface AgentBreaker {
  /** Failures since the last success. */
  readonly failures: number;
  /** How often it opened since it was last closed: 0 is closed. */
  readonly openings: number;
  readonly openedMs: number;
  readonly openUntilMs: number;
  /** A probe is under way until then, at most. */
  readonly probeUntilMs: number;
}

/** `down`: the platform fails or asks for less. `forbidden`: it will not send for this agent before somebody mends it. */
export type Trouble = 'down' | 'forbidden';

export const CLOSED: AgentBreaker = {
  failures: 0,
  openings: 0,
  openedMs: -Infinity,
  openUntilMs: -Infinity,
  probeUntilMs: -Infinity,
};

/** So many in a row: a throttle of one phone among many sends must not stop them all. */
export const FAILURES_TO_OPEN = 5;
const DOWN = { firstMs: 5_000, capMs: 60_000 };
const FORBIDDEN = { firstMs: 30_000, capMs: 300_000 };
/** Longer than a send takes. */
const PROBE_MS = 2_000;

/** With this send admitted; null while none is. */
export function admitted(breaker: AgentBreaker, nowMs: number): AgentBreaker | null {
  if (breaker.openings === 0) return breaker;
  if (nowMs < breaker.openUntilMs || nowMs < breaker.probeUntilMs) return null;
  return { ...breaker, probeUntilMs: nowMs + PROBE_MS };
}

/** A send failed that began at `sentMs`. What began before it opened says nothing new. `random` is in [0, 1). */
export function afterTrouble(
  breaker: AgentBreaker,
  trouble: Trouble,
  { sentMs, nowMs, random }: { readonly sentMs: number; readonly nowMs: number; readonly random: number },
): AgentBreaker {
  if (sentMs < breaker.openedMs) return breaker;
  const failures = breaker.failures + 1;
  if (breaker.openings === 0 && trouble === 'down' && failures < FAILURES_TO_OPEN) return { ...breaker, failures };
  const openings = breaker.openings + 1;
  const { firstMs, capMs } = trouble === 'down' ? DOWN : FORBIDDEN;
  const openUntilMs = nowMs + withJitterMs(doubledMs(firstMs, capMs, openings), random);
  return { failures, openings, openedMs: nowMs, openUntilMs, probeUntilMs: -Infinity };
}
