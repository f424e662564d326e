import { setMaxListeners } from 'node:events';
import {
  messageIdOf,
  plainAgentId,
  SEND_LIFE_MS,
  type Card,
  type SendOutcome,
  type Suggestion,
  type Verdict,
} from '@countersign/rcs/rules';
import type { RbmSettings } from '@countersign/settings';
import { AgentLimits } from './agent-limits.js';
import { approvalMessage, closingMessage, type AgentMessage } from './card-message.js';
import { healthOf, sendOutcomeOf, commandResultOf, errorMessageOf, type CommandResult } from './rbm-answer.js';
import { RbmHttp, type RbmHttpOptions, type RbmRequest } from './rbm-http.js';
import { loadServiceAccount } from './service-account.js';

/** A reason, to be fixed by an engineer, why cards are not sent. */
export interface RbmProblem {
  /** Null for a problem of the service account. */
  readonly agentId: string | null;
  readonly because: string;
  /** The platform's error message; empty without one. */
  readonly said: string;
}

export interface RbmClientOptions extends Omit<RbmHttpOptions, 'onTokenFault'> {
  /** Called at most once a minute for the same problem of an agent. */
  readonly onProblem: (problem: RbmProblem) => void;
}

/** The fields of a card that a revoke needs. */
export type SentCard = Pick<Card, 'agentId' | 'phone' | 'messageId'>;
/** The fields of a card that a closing text needs. */
export type TappedCard = Pick<Card, 'id' | 'agentId' | 'phone' | 'brandName'>;

/** Revokes and closing texts delay only the shutdown. */
const COMMAND_TIMEOUT_MS = 2_500;

/**
 * The client of RCS Business Messaging. A failed send or command is a value, not a rejection. A message keeps its id when
 * it is sent again, so the platform takes repeats for one message.
 */
export class RbmClient {
  readonly #limits = new AgentLimits();
  readonly #http: RbmHttp;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();

  constructor(private readonly options: RbmClientOptions) {
    // Every command in flight adds a listener; RcsCommandProcessor limits their number.
    setMaxListeners(0, this.#stop.signal);
    const onTokenFault = (said: string): void => this.#report({ agentId: null, because: 'no_token', said });
    this.#http = new RbmHttp({ ...options, onTokenFault });
  }

  /** Null without settings: no card can be sent. Throws a SettingsError when the key file is not usable. */
  static open(
    settings: Pick<RbmSettings, 'baseUrl' | 'serviceAccountFile'> | null,
    options: Pick<RbmClientOptions, 'nowMs' | 'onProblem'>,
  ): RbmClient | null {
    if (settings === null) return null;
    const { baseUrl, serviceAccountFile } = settings;
    return new RbmClient({ ...options, baseUrl, account: loadServiceAccount(serviceAccountFile) });
  }

  /** Sends a card. Token, connection and answer together take at most SEND_LIFE_MS. */
  async sendCard(card: Card, suggestions: readonly Suggestion[]): Promise<SendOutcome> {
    if (this.#stop.signal.aborted) return { kind: 'refused', because: 'stopped' };
    const message = this.#buildMessage(card, suggestions);
    if (message === null) return { kind: 'refused', because: 'not_drawn' };
    const agentId = plainAgentId(card.agentId);
    const limit = this.#limits.admit(agentId);
    if ('refusal' in limit) return { kind: 'refused', because: limit.refusal };
    const request = { to: card, messageId: card.messageId, message };
    const answer = await this.#track(this.#http.request(request, 'cards', { timeoutMs: SEND_LIFE_MS }));
    if (answer === null) return { kind: 'refused', because: 'no_token' };
    const isThrottle = answer.kind === 'answered' && answer.status === 429;
    this.#limits.recordAnswer(agentId, limit.sentMs, healthOf(answer), isThrottle);
    const outcome = sendOutcomeOf(answer);
    // Unknown outcomes are transient; they are only counted.
    if (outcome.kind === 'refused') this.#report({ agentId, because: outcome.because, said: errorMessageOf(answer) });
    return outcome;
  }

  /** Revokes a card. `done` does not prove that the card did not arrive. */
  revoke(card: SentCard): Promise<CommandResult> {
    return this.#runCommand({ to: card, messageId: card.messageId, message: null });
  }

  /** Sends the text that closes a card after a tap. */
  sendClosingText(card: TappedCard, verdict: Verdict): Promise<CommandResult> {
    const messageId = messageIdOf(card.id, 'closing');
    return this.#runCommand({ to: card, messageId, message: closingMessage(card, verdict) });
  }

  /** Sends no further cards; resolves once those in flight have their outcome. Commands end with `again`. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#inFlight);
    await this.#http.close();
  }

  async #runCommand(request: RbmRequest): Promise<CommandResult> {
    const { signal } = this.#stop;
    if (signal.aborted) return 'again';
    const answer = await this.#track(
      this.#http.request(request, 'commands', { timeoutMs: COMMAND_TIMEOUT_MS, signal }),
    );
    return answer === null ? 'again' : commandResultOf(answer);
  }

  /** Null when the card exceeds a limit of the platform, which is a fault of this program; its session falls back. */
  #buildMessage(card: Card, suggestions: readonly Suggestion[]): AgentMessage | null {
    try {
      return approvalMessage(card, suggestions);
    } catch (error) {
      const said = error instanceof Error ? error.message : '';
      this.#report({ agentId: plainAgentId(card.agentId), because: 'not_drawn', said });
      return null;
    }
  }

  #report(problem: RbmProblem): void {
    // A stopping client ends its own connections.
    if (this.#stop.signal.aborted) return;
    if (this.#limits.shouldReport(problem.agentId ?? '', problem.because)) this.options.onProblem(problem);
  }

  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#inFlight.add(work);
    try {
      return await work;
    } finally {
      this.#inFlight.delete(work);
    }
  }
}
