import { CircuitBreaker, doubledMs, withJitterMs } from '@countersign/resilience';
import { AgentRate } from './agent-rate.js';
import type { Health } from './rbm-answer.js';

/** Beyond this number the agent seen first is dropped, which resets its limits. */
const MAX_AGENTS = 10_000;
/** Consecutive failures; more than one, because throttling of a single phone must not block all sends. */
const FAILURES_TO_OPEN = 5;
/** Open times of the breaker; a `forbidden` answer opens it at once. */
const OPEN_TIMES = { down: { firstMs: 5_000, capMs: 60_000 }, forbidden: { firstMs: 30_000, capMs: 300_000 } } as const;
/** Longer than the time limit of a send. */
const PROBE_MS = 2_000;
/** The same problem of an agent is reported at most once in this time. */
const REPORT_INTERVAL_MS = 60_000;

interface AgentLimit {
  readonly breaker: CircuitBreaker;
  readonly rate: AgentRate;
  /** When each problem was last reported. */
  readonly reportedMs: Map<string, number>;
}

export interface AgentLimitsOptions {
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/** Why no card of the agent may be sent now. */
export type LimitRefusal = 'breaker_open' | 'too_fast';

/** A circuit breaker and a token bucket per agent, so that a failing agent does not affect others. */
export class AgentLimits {
  readonly #limits = new Map<string, AgentLimit>();
  readonly #nowMs: () => number;
  readonly #random: () => number;

  constructor({ nowMs = () => performance.now(), random = Math.random }: AgentLimitsOptions = {}) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  /** Admits one send and returns its start time, or why it is refused. */
  admit(agentId: string): { readonly sentMs: number } | { readonly refusal: LimitRefusal } {
    const nowMs = this.#nowMs();
    const { breaker, rate } = this.#limitOf(agentId, nowMs);
    if (!rate.hasToken(nowMs)) return { refusal: 'too_fast' };
    if (!breaker.admit(nowMs, PROBE_MS)) return { refusal: 'breaker_open' };
    rate.takeToken(nowMs);
    return { sentMs: nowMs };
  }

  /** Updates the limits by the answer to a send that began at `sentMs`. */
  recordAnswer(agentId: string, sentMs: number, health: Health, isThrottle: boolean): void {
    const nowMs = this.#nowMs();
    const { breaker, rate } = this.#limitOf(agentId, nowMs);
    if (isThrottle) rate.halve(nowMs);
    if (health === 'works') breaker.recordSuccess();
    // A send that began before the breaker opened says nothing new.
    else if (health !== 'unknown' && sentMs >= breaker.openedMs) this.#recordFailure(breaker, health, nowMs);
  }

  /** Whether a problem is to be reported; then it counts as reported. */
  shouldReport(agentId: string, problem: string): boolean {
    const nowMs = this.#nowMs();
    const { reportedMs } = this.#limitOf(agentId, nowMs);
    if (nowMs < (reportedMs.get(problem) ?? -Infinity) + REPORT_INTERVAL_MS) return false;
    reportedMs.set(problem, nowMs);
    return true;
  }

  #recordFailure(breaker: CircuitBreaker, failure: keyof typeof OPEN_TIMES, nowMs: number): void {
    const { firstMs, capMs } = OPEN_TIMES[failure];
    const openMs = (openings: number): number => withJitterMs(doubledMs(firstMs, capMs, openings), this.#random());
    breaker.recordFailure(nowMs, openMs, failure === 'forbidden');
  }

  #limitOf(agentId: string, nowMs: number): AgentLimit {
    const known = this.#limits.get(agentId);
    if (known !== undefined) return known;
    const limit: AgentLimit = {
      breaker: new CircuitBreaker(FAILURES_TO_OPEN),
      rate: new AgentRate(nowMs),
      reportedMs: new Map(),
    };
    this.#limits.set(agentId, limit);
    for (const oldest of this.#limits.keys()) {
      if (this.#limits.size <= MAX_AGENTS) break;
      this.#limits.delete(oldest);
    }
    return limit;
  }
}
