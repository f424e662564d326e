import type { Dispatcher } from 'undici';
import { doubledMs } from '@countersign/resilience';
import { assertionOf } from './assertion.js';
import { readMembers, textIn } from './json-members.js';
import { CallDeadline } from './call-deadline.js';
import { makeCall, type Answer } from './rbm-call.js';
import type { ServiceAccount } from './service-account.js';

export type TokenReading = { readonly token: string } | { readonly fault: string };

export interface AccessTokensOptions {
  readonly account: ServiceAccount;
  readonly dispatcher: Dispatcher;
  /** Unix milliseconds: assertions are dated. */
  readonly nowMs: () => number;
  /** Called once for every exchange in vain. */
  readonly onFault: (fault: string) => void;
  readonly monotonicMs?: () => number;
}

/** What a token endpoint granted. */
export interface Grant {
  readonly token: string;
  readonly lifetimeMs: number;
}

const EXCHANGE_TIMEOUT_MS = 5_000;
/** A token is not used in its last minute: what is sent with it must still arrive. */
const MARGIN_MS = 60_000;
/** From then on the next one is fetched while this one is still used, so that no card waits for it. */
const AHEAD_MS = 300_000;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;
const MAX_TOKEN = 4_096;
const MAX_WORD = 64;
const MAX_LIFETIME_SECONDS = 86_400;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface Held {
  readonly token: string;
  readonly refreshMs: number;
  readonly staleMs: number;
}

/**
 * The access token of a service account (RFC 7523, 2.1): one exchange at a time, whoever asks; kept until a minute before
 * its end. After an exchange in vain there is a pause that grows, in which nobody asks again. Never rejects.
 */
export class AccessTokens {
  #held: Held | null = null;
  #exchange: Promise<TokenReading> | null = null;
  #faults = 0;
  #pause: { readonly untilMs: number; readonly fault: string } | null = null;
  readonly #monotonicMs: () => number;

  constructor(private readonly options: AccessTokensOptions) {
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  async get(): Promise<TokenReading> {
    const nowMs = this.#monotonicMs();
    const held = this.#held;
    if (held === null || nowMs >= held.staleMs) return this.#next(nowMs);
    if (nowMs >= held.refreshMs) void this.#next(nowMs);
    return { token: held.token };
  }

  /** The platform does not take this token. Another that was fetched meanwhile stays. */
  drop(token: string): void {
    if (this.#held?.token === token) this.#held = null;
  }

  async #next(nowMs: number): Promise<TokenReading> {
    if (this.#exchange !== null) return this.#exchange;
    if (this.#pause !== null && nowMs < this.#pause.untilMs) return { fault: this.#pause.fault };
    this.#exchange = this.#fetch();
    try {
      return await this.#exchange;
    } finally {
      this.#exchange = null;
    }
  }

  async #fetch(): Promise<TokenReading> {
    const reading = readGrant(await this.#ask());
    const nowMs = this.#monotonicMs();
    if ('fault' in reading) {
      const { fault } = reading;
      this.#faults += 1;
      this.#pause = { untilMs: nowMs + doubledMs(FIRST_PAUSE_MS, MAX_PAUSE_MS, this.#faults), fault };
      this.options.onFault(fault);
      return reading;
    }
    const { token, lifetimeMs } = reading;
    // Of a short life half is used.
    const staleMs = nowMs + Math.max(lifetimeMs - MARGIN_MS, lifetimeMs / 2);
    this.#held = { token, staleMs, refreshMs: Math.max(staleMs - AHEAD_MS, nowMs + lifetimeMs / 2) };
    this.#faults = 0;
    this.#pause = null;
    return { token };
  }

  async #ask(): Promise<Answer> {
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

/** What a token endpoint answered: a bearer token, or in a few words why not. The fault shows no token. */
export function readGrant(answer: Answer): Grant | { readonly fault: string } {
  if (answer.kind !== 'answered') return { fault: `no answer from the token endpoint: ${answer.because}` };
  const members = readMembers(answer.body);
  if (answer.status !== 200) {
    const word = members === null ? null : textIn(members, 'error', MAX_WORD);
    return { fault: `the token endpoint answered ${answer.status} ${isWord(word) ? word : ''}`.trimEnd() };
  }
  const token = members === null ? null : textIn(members, 'access_token', MAX_TOKEN);
  const seconds = members?.['expires_in'];
  // One that cannot stand in a header is none.
  if (token === null || !/^[\x21-\x7e]+$/.test(token)) return { fault: 'the token endpoint gave no access token' };
  if (typeof seconds !== 'number' || !(seconds > 0)) return { fault: 'the token endpoint gave a token without an end' };
  return { token, lifetimeMs: Math.min(seconds, MAX_LIFETIME_SECONDS) * 1000 };
}

/** An error of RFC 6749, 5.2, and nothing that somebody wrote. */
const isWord = (text: string | null): boolean => text !== null && /^[a-z_]+$/.test(text);
