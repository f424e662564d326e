import { doubledMs, withJitterMs } from '@countersign/resilience';

/**
 * The circuit breaker of an agent. An immutable value; times are monotonic milliseconds. Closed until FAILURES_TO_OPEN
 * consecutive sends fail, or one is forbidden; then open, with an increasing duration; then half open, with one send at a
 * time as the probe.
 */
export interface AgentBreaker {
  /** Failures since the last success. */
  readonly failures: number;
  /** Openings since the breaker was last closed; 0 when it is closed. */
  readonly openings: number;
  readonly openedMs: number;
  readonly openUntilMs: number;
  /** End of the current probe's time. */
  readonly probeUntilMs: number;
}

/** `down`: the platform fails or throttles. `forbidden`: it rejects this agent until an engineer fixes it. */
export type AgentFailure = 'down' | 'forbidden';

export const CLOSED: AgentBreaker = {
  failures: 0,
  openings: 0,
  openedMs: -Infinity,
  openUntilMs: -Infinity,
  probeUntilMs: -Infinity,
};

/** More than one, because throttling of a single phone must not block all sends. */
export const FAILURES_TO_OPEN = 5;
const DOWN = { firstMs: 5_000, capMs: 60_000 };
const FORBIDDEN = { firstMs: 30_000, capMs: 300_000 };
/** Longer than the time limit of a send. */
const PROBE_MS = 2_000;

/** The breaker after admitting a send; null while no send is admitted. */
export function admitSend(breaker: AgentBreaker, nowMs: number): AgentBreaker | null {
  if (breaker.openings === 0) return breaker;
  if (nowMs < breaker.openUntilMs || nowMs < breaker.probeUntilMs) return null;
  return { ...breaker, probeUntilMs: nowMs + PROBE_MS };
}

/** The breaker after a failed send. A send that began before the breaker opened is ignored. `random` is in [0, 1). */
export function recordFailure(
  breaker: AgentBreaker,
  failure: AgentFailure,
  { sentMs, nowMs, random }: { readonly sentMs: number; readonly nowMs: number; readonly random: number },
): AgentBreaker {
  if (sentMs < breaker.openedMs) return breaker;
  const failures = breaker.failures + 1;
  if (breaker.openings === 0 && failure === 'down' && failures < FAILURES_TO_OPEN) return { ...breaker, failures };
  const openings = breaker.openings + 1;
  const { firstMs, capMs } = failure === 'down' ? DOWN : FORBIDDEN;
  const openUntilMs = nowMs + withJitterMs(doubledMs(firstMs, capMs, openings), random);
  return { failures, openings, openedMs: nowMs, openUntilMs, probeUntilMs: -Infinity };
}
