import { admitted, afterTrouble, CLOSED, type AgentBreaker } from './agent-breaker.js';
import { initialRate, slowed, spent, type AgentRate } from './agent-rate.js';
import type { Health } from './rbm-answer.js';

/** Agents that are remembered; beyond it the one that was first seen is forgotten, which opens its gate. */
const MAX_AGENTS = 10_000;
/** An engineer is told of the same trouble no more often. */
const TELL_EVERY_MS = 60_000;

interface AgentLimit {
  readonly breaker: AgentBreaker;
  readonly pace: AgentRate;
  /** When each trouble was last told. */
  readonly toldMs: Map<string, number>;
}

export interface AgentLimitsOptions {
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/** Why no card of an agent goes out now. */
export type GateRefusal = 'breaker_open' | 'too_fast';

/** A breaker and a bucket for every agent, so that one agent's trouble is its own. */
export class AgentLimits {
  readonly #limits = new Map<string, AgentLimit>();
  readonly #nowMs: () => number;
  readonly #random: () => number;

  constructor({ nowMs = () => performance.now(), random = Math.random }: AgentLimitsOptions = {}) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  /** Lets one card through: the time that it goes at, or why it does not. */
  enter(agentId: string): { readonly sentMs: number } | { readonly refusal: GateRefusal } {
    const nowMs = this.#nowMs();
    const limit = this.#gateOf(agentId, nowMs);
    const pace = spent(limit.pace, nowMs);
    if (pace === null) return { refusal: 'too_fast' };
    const breaker = admitted(limit.breaker, nowMs);
    if (breaker === null) return { refusal: 'breaker_open' };
    this.#limits.set(agentId, { ...limit, breaker, pace });
    return { sentMs: nowMs };
  }

  /** Learns from the answer to a card that went at `sentMs`. */
  learn(agentId: string, sentMs: number, health: Health, isThrottle: boolean): void {
    const nowMs = this.#nowMs();
    const limit = this.#gateOf(agentId, nowMs);
    const pace = isThrottle ? slowed(limit.pace, nowMs) : limit.pace;
    this.#limits.set(agentId, { ...limit, pace, breaker: this.#judged(limit.breaker, health, sentMs, nowMs) });
  }

  /** Whether an engineer should be told of it: not if that was told within a minute. */
  isNews(agentId: string, trouble: string): boolean {
    const nowMs = this.#nowMs();
    const { toldMs } = this.#gateOf(agentId, nowMs);
    if (nowMs < (toldMs.get(trouble) ?? -Infinity) + TELL_EVERY_MS) return false;
    toldMs.set(trouble, nowMs);
    return true;
  }

  #judged(breaker: AgentBreaker, health: Health, sentMs: number, nowMs: number): AgentBreaker {
    if (health === 'unsaid') return breaker;
    return health === 'works' ? CLOSED : afterTrouble(breaker, health, { sentMs, nowMs, random: this.#random() });
  }

  #gateOf(agentId: string, nowMs: number): AgentLimit {
    const known = this.#limits.get(agentId);
    if (known !== undefined) return known;
    const limit: AgentLimit = { breaker: CLOSED, pace: initialRate(nowMs), toldMs: new Map() };
    this.#limits.set(agentId, limit);
    for (const oldest of this.#limits.keys()) {
      if (this.#limits.size <= MAX_AGENTS) break;
      this.#limits.delete(oldest);
    }
    return limit;
  }
}
