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
import { healthOf, judgeSend, judgeCommandAnswer, wordsOf, type CommandResult } from './rbm-answer.js';
import { RbmHttp, type RbmHttpOptions, type RbmRequest } from './rbm-http.js';
import { loadServiceAccount } from './service-account.js';

/** Cards that do not go out for a reason that an engineer may mend, in the platform's words where it said any. */
export interface RbmProblem {
  /** Null: it is the service account's. */
  readonly agentId: string | null;
  readonly because: string;
  readonly said: string;
}

export interface RbmClientOptions extends Omit<RbmHttpOptions, 'onTokenFault'> {
  /** The same of one agent no more than once a minute. */
  readonly onProblem: (problem: RbmProblem) => void;
}

/** What a revoke needs to know of a card. */
export type SentCard = Pick<Card, 'agentId' | 'phone' | 'messageId'>;
/** What a closing text needs to know of a card. */
export type TappedCard = Pick<Card, 'id' | 'agentId' | 'phone' | 'brandName'>;

/** Nobody waits for a revoke or a closing text but the stop. */
const COMMAND_TIMEOUT_MS = 2_500;

/**
 * The client of RCS Business Messaging. What comes of a send is a value, never a rejection. A message has one id however
 * often it is sent, and is one message to the platform.
 */
export class RbmClient {
  readonly #limits = new AgentLimits();
  readonly #line: RbmHttp;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();

  constructor(private readonly options: RbmClientOptions) {
    // Every errand under way listens; how many those are is bounded by who runs them.
    setMaxListeners(0, this.#stop.signal);
    const onTokenFault = (said: string): void => this.#report({ agentId: null, because: 'no_token', said });
    this.#line = new RbmHttp({ ...options, onTokenFault });
  }

  /** Null without settings: no card can be sent. Throws a SettingsError where the key file is not usable. */
  static open(
    settings: Pick<RbmSettings, 'baseUrl' | 'serviceAccountFile'> | null,
    options: Pick<RbmClientOptions, 'nowMs' | 'onProblem'>,
  ): RbmClient | null {
    if (settings === null) return null;
    const { baseUrl, serviceAccountFile } = settings;
    return new RbmClient({ ...options, baseUrl, account: loadServiceAccount(serviceAccountFile) });
  }

  /** Sends a card: waiting for a token, connecting and the platform's answer take no longer than the life of a send. */
  async send(card: Card, suggestions: readonly Suggestion[]): Promise<SendOutcome> {
    if (this.#stop.signal.aborted) return { kind: 'refused', because: 'stopped' };
    const message = this.#drawn(card, suggestions);
    if (message === null) return { kind: 'refused', because: 'not_drawn' };
    const agentId = plainAgentId(card.agentId);
    const limit = this.#limits.enter(agentId);
    if ('refusal' in limit) return { kind: 'refused', because: limit.refusal };
    const request = { to: card, messageId: card.messageId, message };
    const answer = await this.#track(this.#line.ask(request, 'cards', { timeoutMs: SEND_LIFE_MS }));
    if (answer === null) return { kind: 'refused', because: 'no_token' };
    this.#limits.learn(agentId, limit.sentMs, healthOf(answer), answer.kind === 'answered' && answer.status === 429);
    const outcome = judgeSend(answer);
    // What failed or was lost mends itself, and is counted.
    if (outcome.kind === 'refused') this.#report({ agentId, because: outcome.because, said: wordsOf(answer) });
    return outcome;
  }

  /** Asks the platform to deliver a card no more. `done` proves nothing of whether it arrived. */
  revoke(card: SentCard): Promise<CommandResult> {
    return this.#tell({ to: card, messageId: card.messageId, message: null });
  }

  /** Says what was decided. */
  close(card: TappedCard, verdict: Verdict): Promise<CommandResult> {
    const messageId = messageIdOf(card.id, 'closing');
    return this.#tell({ to: card, messageId, message: closingMessage(card, verdict) });
  }

  /** No card is sent any more; resolves when those on their way have their outcome. Errands are told another time. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#underWay);
    await this.#line.close();
  }

  async #tell(request: RbmRequest): Promise<CommandResult> {
    const { signal } = this.#stop;
    if (signal.aborted) return 'again';
    const answer = await this.#track(this.#line.ask(request, 'errands', { timeoutMs: COMMAND_TIMEOUT_MS, signal }));
    return answer === null ? 'again' : judgeCommandAnswer(answer);
  }

  /** A card that breaks a limit of the platform is a fault of ours, and its session falls back like any other. */
  #drawn(card: Card, suggestions: readonly Suggestion[]): AgentMessage | null {
    try {
      return approvalMessage(card, suggestions);
    } catch (error) {
      const said = error instanceof Error ? error.message : '';
      this.#report({ agentId: plainAgentId(card.agentId), because: 'not_drawn', said });
      return null;
    }
  }

  #report(problem: RbmProblem): void {
    // Who is stopping cuts its own connections.
    if (this.#stop.signal.aborted) return;
    if (this.#limits.isNews(problem.agentId ?? '', problem.because)) this.options.onProblem(problem);
  }

  async #track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }
}
