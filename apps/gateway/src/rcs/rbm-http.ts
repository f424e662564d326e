import { plainAgentId, type Card } from '@countersign/rcs/rules';
import { Agent, type Dispatcher } from 'undici';
import { AccessTokens } from './access-token.js';
import { CallDeadline, type CallLimits } from './call-deadline.js';
import type { AgentMessage } from './card-message.js';
import { healthOf } from './rbm-answer.js';
import { makeCall, type Answer } from './rbm-call.js';
import type { ServiceAccount } from './service-account.js';

export interface RbmHttpOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly account: ServiceAccount;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  readonly onTokenFault: (fault: string) => void;
}

/** What is asked of the platform: to send a message, or to send it no more. */
export interface RbmRequest {
  readonly to: Pick<Card, 'agentId' | 'phone'>;
  readonly messageId: string;
  /** Null: it is revoked. */
  readonly message: AgentMessage | null;
}

/** Cards, or what is said afterwards: apart, so that revokes that hang hold no card back. */
export type Pool = 'cards' | 'errands';

/** Requests at the same time; further ones wait for a connection, within their time. */
const CONNECTIONS: Readonly<Record<Pool, number>> = { cards: 128, errands: 32 };
const CONNECT_TIMEOUT_MS = 1_500;
const KEEP_ALIVE_MS = 30_000;

/** The line to the platform: its addresses, its tokens, its connections. */
export class RbmHttp {
  readonly #dispatchers: Readonly<Record<Pool, Dispatcher>> = { cards: agentOf('cards'), errands: agentOf('errands') };
  readonly #tokens: AccessTokens;

  constructor(private readonly options: RbmHttpOptions) {
    const { account, nowMs, onTokenFault: onFault } = options;
    this.#tokens = new AccessTokens({ account, nowMs, onFault, dispatcher: this.#dispatchers.cards });
  }

  /**
   * At most two calls, in the time of one: again with another token where the first was not taken, and again where the
   * connection was lost, as a kept one may be in the moment it is used. The platform ignores an id that it knows, so that
   * both are one message. Null: there was no token, and nothing was sent.
   */
  async ask(request: RbmRequest, pool: Pool, limits: CallLimits): Promise<Answer | null> {
    const deadline = new CallDeadline(limits);
    try {
      const first = await this.#attempt(request, pool, deadline);
      if (first === null || !isWorthAnother(first)) return first;
      const second = await this.#attempt(request, pool, deadline);
      // What was lost may have arrived, unless the platform knows better.
      const knows = first.kind !== 'lost' || (second !== null && healthOf(second) === 'works');
      return knows ? (second ?? first) : first;
    } finally {
      deadline.clear();
    }
  }

  /** Cuts what is under way. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#dispatchers).map((dispatcher) => dispatcher.destroy()));
  }

  async #attempt({ to, messageId, message }: RbmRequest, pool: Pool, deadline: CallDeadline): Promise<Answer | null> {
    const reading = await deadline.wait(this.#tokens.get());
    if (reading === null || 'fault' in reading) return null;
    const { token } = reading;
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const url = this.#urlOf(to, messageId, message === null ? 'one' : 'new');
    const call =
      message === null
        ? ({ method: 'DELETE', url, headers } as const)
        : ({
            method: 'POST',
            url,
            headers: { ...headers, 'content-type': 'application/json' },
            body: JSON.stringify(message),
          } as const);
    const answer = await makeCall(this.#dispatchers[pool], call, deadline);
    if (answer.kind === 'answered' && answer.status === 401) this.#tokens.drop(token);
    return answer;
  }

  /** The plus of a number is written as it is, as the platform's own clients do. */
  #urlOf(to: RbmRequest['to'], messageId: string, which: 'one' | 'new'): string {
    const messages = `${this.options.baseUrl}/v1/phones/+${encodeURIComponent(to.phone.replace(/^\+/, ''))}/agentMessages`;
    const agentId = `agentId=${encodeURIComponent(plainAgentId(to.agentId))}`;
    const id = encodeURIComponent(messageId);
    return which === 'one' ? `${messages}/${id}?${agentId}` : `${messages}?messageId=${id}&${agentId}`;
  }
}

const isWorthAnother = (answer: Answer): boolean =>
  answer.kind === 'answered' ? answer.status === 401 : answer.because === 'connection_lost';

function agentOf(pool: Pool): Dispatcher {
  return new Agent({
    connections: CONNECTIONS[pool],
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
}
