import { admitted, afterTrouble, CLOSED, type AgentBreaker } from './agent-breaker.js';
import { freshPace, slowed, spent, type AgentPace } from './agent-pace.js';
import type { Health } from './rbm-answer.js';

/** Agents that are remembered; beyond it the one that was first seen is forgotten, which opens its gate. */
const MAX_AGENTS = 10_000;
/** An engineer is told of the same trouble no more often. */
const TELL_EVERY_MS = 60_000;

interface Gate {
  readonly breaker: AgentBreaker;
  readonly pace: AgentPace;
  /** When each trouble was last told. */
  readonly toldMs: Map<string, number>;
}

export interface AgentGatesOptions {
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

/** Why no card of an agent goes out now. */
export type GateRefusal = 'breaker_open' | 'too_fast';

/** A breaker and a bucket for every agent, so that one agent's trouble is its own. */
export class AgentGates {
  readonly #gates = new Map<string, Gate>();
  readonly #nowMs: () => number;
  readonly #random: () => number;

  constructor({ nowMs = () => performance.now(), random = Math.random }: AgentGatesOptions = {}) {
    this.#nowMs = nowMs;
    this.#random = random;
  }

  /** Lets one card through: the time that it goes at, or why it does not. */
  enter(agentId: string): { readonly sentMs: number } | { readonly refusal: GateRefusal } {
    const nowMs = this.#nowMs();
    const gate = this.#gateOf(agentId, nowMs);
    const pace = spent(gate.pace, nowMs);
    if (pace === null) return { refusal: 'too_fast' };
    const breaker = admitted(gate.breaker, nowMs);
    if (breaker === null) return { refusal: 'breaker_open' };
    this.#gates.set(agentId, { ...gate, breaker, pace });
    return { sentMs: nowMs };
  }

  /** Learns from the answer to a card that went at `sentMs`. */
  learn(agentId: string, sentMs: number, health: Health, isThrottle: boolean): void {
    const nowMs = this.#nowMs();
    const gate = this.#gateOf(agentId, nowMs);
    const pace = isThrottle ? slowed(gate.pace, nowMs) : gate.pace;
    this.#gates.set(agentId, { ...gate, pace, breaker: this.#judged(gate.breaker, health, sentMs, nowMs) });
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

  #gateOf(agentId: string, nowMs: number): Gate {
    const known = this.#gates.get(agentId);
    if (known !== undefined) return known;
    const gate: Gate = { breaker: CLOSED, pace: freshPace(nowMs), toldMs: new Map() };
    this.#gates.set(agentId, gate);
    for (const oldest of this.#gates.keys()) {
      if (this.#gates.size <= MAX_AGENTS) break;
      this.#gates.delete(oldest);
    }
    return gate;
  }
}
