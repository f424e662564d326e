import type { Dispatcher } from 'undici';
import { doubledMs } from '@countersign/resilience';
import { assertionOf } from './assertion.js';
import { parseMembers, textIn } from '../json/json-members.js';
import { CallDeadline } from './call-deadline.js';
import { makeCall, type Answer } from './rbm-call.js';
import type { ServiceAccount } from './service-account.js';

export type TokenResult = { readonly token: string } | { readonly fault: string };

export interface AccessTokensOptions {
  readonly account: ServiceAccount;
  readonly dispatcher: Dispatcher;
  /** Unix milliseconds, for the assertions' times. */
  readonly nowMs: () => number;
  /** Called once per failed exchange. */
  readonly onFault: (fault: string) => void;
  readonly monotonicMs?: () => number;
}

/** A token and its lifetime, as granted by the token endpoint. */
export interface Grant {
  readonly token: string;
  readonly lifetimeMs: number;
}

const EXCHANGE_TIMEOUT_MS = 5_000;
/** A token is not used in its last minute, so that a request sent with it arrives in time. */
const MARGIN_MS = 60_000;
/** The next token is fetched this long before the current one is stale, so that no send waits for it. */
const REFRESH_AHEAD_MS = 300_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const MAX_TOKEN = 4_096;
const MAX_ERROR_CODE = 64;
const MAX_LIFETIME_SECONDS = 86_400;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface CachedToken {
  readonly token: string;
  readonly refreshMs: number;
  readonly staleMs: number;
}

/**
 * The access token of a service account (RFC 7523, 2.1). Concurrent callers share one exchange; the token is cached until a
 * minute before its expiry. After a failed exchange callers get the fault during an exponential backoff. Never rejects.
 */
export class AccessTokens {
  #cached: CachedToken | null = null;
  #exchange: Promise<TokenResult> | null = null;
  #failures = 0;
  #backoff: { readonly untilMs: number; readonly fault: string } | null = null;
  readonly #monotonicMs: () => number;

  constructor(private readonly options: AccessTokensOptions) {
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  async get(): Promise<TokenResult> {
    const nowMs = this.#monotonicMs();
    const cached = this.#cached;
    if (cached === null || nowMs >= cached.staleMs) return this.#refresh(nowMs);
    if (nowMs >= cached.refreshMs) void this.#refresh(nowMs);
    return { token: cached.token };
  }

  /** Drops a token that the platform rejected; a newer one stays cached. */
  drop(token: string): void {
    if (this.#cached?.token === token) this.#cached = null;
  }

  async #refresh(nowMs: number): Promise<TokenResult> {
    if (this.#exchange !== null) return this.#exchange;
    if (this.#backoff !== null && nowMs < this.#backoff.untilMs) return { fault: this.#backoff.fault };
    this.#exchange = this.#fetch();
    try {
      return await this.#exchange;
    } finally {
      this.#exchange = null;
    }
  }

  async #fetch(): Promise<TokenResult> {
    const result = parseGrant(await this.#requestGrant());
    const nowMs = this.#monotonicMs();
    if ('fault' in result) {
      const { fault } = result;
      this.#failures += 1;
      this.#backoff = { untilMs: nowMs + doubledMs(FIRST_BACKOFF_MS, MAX_BACKOFF_MS, this.#failures), fault };
      this.options.onFault(fault);
      return result;
    }
    const { token, lifetimeMs } = result;
    // A token with a short lifetime is used for half of it.
    const staleMs = nowMs + Math.max(lifetimeMs - MARGIN_MS, lifetimeMs / 2);
    this.#cached = { token, staleMs, refreshMs: Math.max(staleMs - REFRESH_AHEAD_MS, nowMs + lifetimeMs / 2) };
    this.#failures = 0;
    this.#backoff = null;
    return { token };
  }

  async #requestGrant(): Promise<Answer> {
    const { account, dispatcher, nowMs } = this.options;
    const body = new URLSearchParams({ grant_type: GRANT_TYPE, assertion: assertionOf(account, nowMs()) }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const call = { method: 'POST', url: account.tokenUri, headers, body } as const;
    const deadline = new CallDeadline({ timeoutMs: EXCHANGE_TIMEOUT_MS });
    const answer = await makeCall(dispatcher, call, deadline);
    deadline.clear();
    return answer;
  }
}

/** Parses the answer of a token endpoint: a bearer token, or a short fault that shows no token. */
export function parseGrant(answer: Answer): Grant | { readonly fault: string } {
  if (answer.kind !== 'answered') return { fault: `no answer from the token endpoint: ${answer.because}` };
  const members = parseMembers(answer.body);
  if (answer.status !== 200) {
    const code = members === null ? null : textIn(members, 'error', MAX_ERROR_CODE);
    return { fault: `the token endpoint answered ${answer.status} ${isErrorCode(code) ? code : ''}`.trimEnd() };
  }
  const token = members === null ? null : textIn(members, 'access_token', MAX_TOKEN);
  const seconds = members?.['expires_in'];
  // A token must be valid in a header.
  if (token === null || !/^[\x21-\x7e]+$/.test(token)) return { fault: 'the token endpoint gave no access token' };
  if (typeof seconds !== 'number' || !(seconds > 0)) return { fault: 'the token endpoint gave a token without an end' };
  return { token, lifetimeMs: Math.min(seconds, MAX_LIFETIME_SECONDS) * 1000 };
}

/** An error code of RFC 6749, 5.2; free text is not reported. */
const isErrorCode = (text: string | null): boolean => text !== null && /^[a-z_]+$/.test(text);
