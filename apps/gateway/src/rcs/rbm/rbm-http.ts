import { plainAgentId, type Card } from '@countersign/rcs/rules';
import { AGREED_TLS } from '@countersign/tls';
import { Agent, type Dispatcher } from 'undici';
import { AccessTokens } from './access-token.js';
import { CallDeadline, type CallLimits } from './call-deadline.js';
import type { AgentMessage } from './card-message.js';
import { healthOf } from './rbm-answer.js';
import { makeCall, type Answer } from './rbm-call.js';
import type { ServiceAccount } from './service-account.js';

export interface RbmHttpOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly account: ServiceAccount;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  readonly onTokenFault: (fault: string) => void;
}

/** A request to send a message, or to revoke it. */
export interface RbmRequest {
  readonly to: Pick<Card, 'agentId' | 'phone'>;
  readonly messageId: string;
  /** Null: revoke the message. */
  readonly message: AgentMessage | null;
}

/** Separate connection pools, so that hanging revokes and closing texts do not delay cards. */
export type Pool = 'cards' | 'commands';

/** Concurrent requests per pool; further ones wait for a connection within their deadline. */
const CONNECTIONS: Readonly<Record<Pool, number>> = { cards: 128, commands: 32 };
const CONNECT_TIMEOUT_MS = 1_500;
const KEEP_ALIVE_MS = 30_000;

/** Requests to the platform: URLs, access tokens, connection pools. */
export class RbmHttp {
  readonly #dispatchers: Readonly<Record<Pool, Dispatcher>> = {
    cards: agentOf('cards'),
    commands: agentOf('commands'),
  };
  readonly #tokens: AccessTokens;

  constructor(private readonly options: RbmHttpOptions) {
    const { account, nowMs, onTokenFault: onFault } = options;
    this.#tokens = new AccessTokens({ account, nowMs, onFault, dispatcher: this.#dispatchers.cards });
  }

  /**
   * Makes at most two calls within one deadline: the second with a new token after a 401, or after a lost connection, since
   * the platform may close an idle connection at the moment it is used. The platform ignores a known message id, so both
   * calls are one message. Null: there was no token, and nothing was sent.
   */
  async request(request: RbmRequest, pool: Pool, limits: CallLimits): Promise<Answer | null> {
    const deadline = new CallDeadline(limits);
    try {
      const first = await this.#attempt(request, pool, deadline);
      if (first === null || !isRetryable(first)) return first;
      const second = await this.#attempt(request, pool, deadline);
      // A lost first call may have arrived, unless the second answer decides it.
      const isDecided = first.kind !== 'lost' || (second !== null && healthOf(second) === 'works');
      return isDecided ? (second ?? first) : first;
    } finally {
      deadline.clear();
    }
  }

  /** Aborts the requests in flight. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.#dispatchers).map((dispatcher) => dispatcher.destroy()));
  }

  async #attempt({ to, messageId, message }: RbmRequest, pool: Pool, deadline: CallDeadline): Promise<Answer | null> {
    const result = await deadline.wait(this.#tokens.get());
    if (result === null || 'fault' in result) return null;
    const { token } = result;
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    const url = this.#urlOf(to, messageId, message === null ? 'existing' : 'new');
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

  /** The plus of a number is not encoded, as in the platform's own clients. */
  #urlOf(to: RbmRequest['to'], messageId: string, which: 'existing' | 'new'): string {
    const messages = `${this.options.baseUrl}/v1/phones/+${encodeURIComponent(to.phone.replace(/^\+/, ''))}/agentMessages`;
    const agentId = `agentId=${encodeURIComponent(plainAgentId(to.agentId))}`;
    const id = encodeURIComponent(messageId);
    return which === 'existing' ? `${messages}/${id}?${agentId}` : `${messages}?messageId=${id}&${agentId}`;
  }
}

const isRetryable = (answer: Answer): boolean =>
  answer.kind === 'answered' ? answer.status === 401 : answer.because === 'connection_lost';

function agentOf(pool: Pool): Dispatcher {
  return new Agent({
    connections: CONNECTIONS[pool],
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { ...AGREED_TLS, timeout: CONNECT_TIMEOUT_MS },
  });
}
