import { admitSend, CLOSED, recordFailure, type AgentBreaker } from './agent-breaker.js';
import { halveRate, initialRate, takeToken, type AgentRate } from './agent-rate.js';
import type { Health } from './rbm-answer.js';

/** Beyond this number the agent seen first is dropped, which resets its limits. */
const MAX_AGENTS = 10_000;
/** The same problem of an agent is reported at most once in this time. */
const REPORT_INTERVAL_MS = 60_000;

interface AgentLimit {
  readonly breaker: AgentBreaker;
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
    const limit = this.#limitOf(agentId, nowMs);
    const rate = takeToken(limit.rate, nowMs);
    if (rate === null) return { refusal: 'too_fast' };
    const breaker = admitSend(limit.breaker, nowMs);
    if (breaker === null) return { refusal: 'breaker_open' };
    this.#limits.set(agentId, { ...limit, breaker, rate });
    return { sentMs: nowMs };
  }

  /** Updates the limits by the answer to a send that began at `sentMs`. */
  recordAnswer(agentId: string, sentMs: number, health: Health, isThrottle: boolean): void {
    const nowMs = this.#nowMs();
    const limit = this.#limitOf(agentId, nowMs);
    const rate = isThrottle ? halveRate(limit.rate, nowMs) : limit.rate;
    this.#limits.set(agentId, { ...limit, rate, breaker: this.#breakerAfter(limit.breaker, health, sentMs, nowMs) });
  }

  /** Whether a problem is to be reported; then it counts as reported. */
  shouldReport(agentId: string, problem: string): boolean {
    const nowMs = this.#nowMs();
    const { reportedMs } = this.#limitOf(agentId, nowMs);
    if (nowMs < (reportedMs.get(problem) ?? -Infinity) + REPORT_INTERVAL_MS) return false;
    reportedMs.set(problem, nowMs);
    return true;
  }

  #breakerAfter(breaker: AgentBreaker, health: Health, sentMs: number, nowMs: number): AgentBreaker {
    if (health === 'unknown') return breaker;
    return health === 'works' ? CLOSED : recordFailure(breaker, health, { sentMs, nowMs, random: this.#random() });
  }

  #limitOf(agentId: string, nowMs: number): AgentLimit {
    const known = this.#limits.get(agentId);
    if (known !== undefined) return known;
    const limit: AgentLimit = { breaker: CLOSED, rate: initialRate(nowMs), reportedMs: new Map() };
    this.#limits.set(agentId, limit);
    for (const oldest of this.#limits.keys()) {
      if (this.#limits.size <= MAX_AGENTS) break;
      this.#limits.delete(oldest);
    }
    return limit;
  }
}
