import { AccountCalls } from './account.js';
import { verifySecret } from './challenge.js';
import { type Delivery, type DeliveryQuery, isDelivery, isRotatedSecret, type RotatedSecret } from './delivery.js';
import { ConflictError, NotFoundError } from './errors.js';
import { isObject, isText, type Page, pageOf } from './fields.js';
import { pathPart, queryText } from './paths.js';
import type { Realtime, RealtimeTicket } from './realtime-client.js';
import { realtime, type RealtimeOptions } from './realtime.js';
import {
  type ApprovedSession,
  type CheckedCode,
  type CreatedSession,
  type CreateSession,
  isApprovedSession,
  isCheckedCode,
  isCreatedSession,
  isListedSession,
  isSentCode,
  isSession,
  type ListedSession,
  type SentCode,
  type Session,
  type SessionStatus,
} from './session.js';
import { type CallOptions, type FetchFunction, Transport } from './transport.js';
import { isUsageReport, type UsageQuery, type UsageReport } from './usage.js';

export interface ClientOptions {
  /** Base URL of the service: `https://verify.example.com`. Plain `http:` is accepted for this computer only. */
  readonly baseUrl: string;
  /** `csk_live_…` or `csk_test_…`. For servers only: a page must never have it. */
  readonly apiKey: string;
  /** Default: the global `fetch`. */
  readonly fetch?: FetchFunction;
  /** Timeout of a whole call, including retries and waits; 30 s. */
  readonly timeoutMs?: number;
  /** Timeout of one attempt; 10 s. Create may wait some seconds for the delivery of a card. */
  readonly attemptTimeoutMs?: number;
  /** Retries after the first attempt, where a retry is safe; 2. */
  readonly maxRetries?: number;
  /** A longer `Retry-After` of the service throws the error instead of waiting; 5 s. */
  readonly maxRetryAfterSeconds?: number;
}

/** For calls that are not idempotent by themselves. */
export interface KeyedCallOptions extends CallOptions {
  /**
   * Your own key, so that a repetition by another process, or after a restart, is recognised for 24 hours. By default
   * one is created per call and used for its retries.
   */
  readonly idempotencyKey?: string;
}

export interface ConfirmOptions extends CallOptions {
  /** Accept a session of a test key too. For tests only: anybody can approve such a session. Default false. */
  readonly allowTest?: boolean;
  /** Maximum age of the approval by this machine's clock; default the session's own `ttl`. */
  readonly maxAgeSeconds?: number;
  /** Consume the session, so that it is confirmed only once. Default false. */
  readonly consume?: boolean;
}

export interface SessionQuery {
  readonly status?: SessionStatus;
  readonly phone?: string;
  /** 1 to 100. */
  readonly limit?: number;
  readonly startingAfter?: string;
}

/**
 * Calls of the service, for a server. Refusals are thrown as `ApiError`s of the class of their code;
 * `ConnectionError`, `TimeoutError` and `UnexpectedAnswerError` mean that the service did not answer.
 */
export class CountersignClient {
  readonly #transport: Transport;
  /** Calls about the account of the key. */
  readonly account: AccountCalls;
  readonly #live: { readonly url: string; readonly apiKey: string };

  constructor({
    baseUrl,
    apiKey,
    // Resolved at call time, so that a later replacement of the global fetch, for instance by a tracer, is used.
    fetch: ask = (url, request) => fetch(url, request),
    timeoutMs = 30_000,
    attemptTimeoutMs = 10_000,
    maxRetries = 2,
    maxRetryAfterSeconds = 5,
  }: ClientOptions) {
    if (!/^csk_(?:live|test)_[A-Za-z0-9]+$/.test(apiKey))
      throw new TypeError('apiKey must be csk_live_… or csk_test_….');
    const safeUrl = safeBaseUrl(baseUrl);
    this.#live = { url: `${safeUrl.replace(/^http/, 'ws')}/v1/realtime`, apiKey };
    const limits = { timeoutMs, attemptTimeoutMs, maxRetries, maxRetryAfterSeconds };
    this.#transport = new Transport({ baseUrl: safeUrl, apiKey, fetch: ask, limits });
    this.account = new AccountCalls(this.#transport);
  }

  /** Creates a session. */
  create(
    request: CreateSession,
    { idempotencyKey = crypto.randomUUID(), ...options }: KeyedCallOptions = {},
  ): Promise<CreatedSession> {
    const call = { method: 'POST', path: '/v1/verify', repeatable: 'always', body: request, idempotencyKey } as const;
    return this.#transport.sendForBody(call, isCreatedSession, options);
  }

  /** The current session. Null when it is unknown, of another account or mode (test or live), or expired. */
  async find(sessionId: string, options?: CallOptions): Promise<Session | null> {
    try {
      const call = { method: 'GET', path: sessionPath(sessionId), repeatable: 'always' } as const;
      return await this.#transport.sendForBody(call, isSession, options);
    } catch (error) {
      if (error instanceof NotFoundError && error.code === 'SESSION_NOT_FOUND') return null;
      throw error;
    }
  }

  /**
   * The last step of the browser binding (specification 4.7): returns the session if it is live, was approved
   * recently enough **and** was created for this secret; else null. Use its `phone`.
   *
   * By itself it does not prevent a second sign-in with the same session and secret within `maxAgeSeconds`. With
   * `consume: true` it also consumes the session, once for all of your processes, and returns null to the second
   * call; use this wherever an approval must be valid for one sign-in only.
   */
  async confirm(
    sessionId: string,
    secret: string,
    { allowTest = false, maxAgeSeconds, consume = false, ...options }: ConfirmOptions = {},
  ): Promise<ApprovedSession | null> {
    const session = await this.find(sessionId, options);
    if (session?.status !== 'approved' || (session.test === true && !allowTest)) return null;
    // An age or a limit that is not a number fails this comparison.
    if (!(approvedSecondsAgo(session) <= (maxAgeSeconds ?? ttlSecondsOf(session)))) return null;
    if (!(await verifySecret(secret, session.clientChallenge))) return null;
    return consume ? this.#consumeOnce(sessionId, options) : session;
  }

  /**
   * Consumes an approved session: exactly one call ever succeeds, any other throws a `ConflictError` with
   * `SESSION_CONSUMED`, or `SESSION_NOT_APPROVED`. Verify the browser's secret before, or let `confirm` do both.
   * After a `ConnectionError` or `TimeoutError` it may have succeeded: create a new session.
   */
  consume(sessionId: string, options?: CallOptions): Promise<ApprovedSession> {
    const path = `${sessionPath(sessionId)}/consume`;
    return this.#transport.sendForBody(
      { method: 'POST', path, repeatable: 'when-untouched' },
      isApprovedSession,
      options,
    );
  }

  async #consumeOnce(sessionId: string, options: CallOptions): Promise<ApprovedSession | null> {
    try {
      return await this.consume(sessionId, options);
    } catch (error) {
      if (error instanceof ConflictError && error.code === 'SESSION_CONSUMED') return null;
      throw error;
    }
  }

  /** Newest first. */
  list(query: SessionQuery = {}, options?: CallOptions): Promise<Page<ListedSession>> {
    const path = `/v1/verify${queryText({ ...query })}`;
    return this.#transport.sendForBody({ method: 'GET', path, repeatable: 'always' }, pageOf(isListedSession), options);
  }

  /** Cancels a pending session. An ended session is unchanged. */
  async cancel(sessionId: string, options?: CallOptions): Promise<void> {
    await this.#transport.send({ method: 'DELETE', path: sessionPath(sessionId), repeatable: 'always' }, options);
  }

  /** Sends a code to the session's phone. */
  async sendSms(
    sessionId: string,
    { idempotencyKey = crypto.randomUUID(), ...options }: KeyedCallOptions = {},
  ): Promise<SentCode> {
    const path = `${sessionPath(sessionId)}/send-sms`;
    return this.#transport.sendForBody(
      { method: 'POST', path, repeatable: 'always', idempotencyKey },
      isSentCode,
      options,
    );
  }

  /**
   * Checks a code. Never retried if the service may have counted it: after a `ConnectionError` or `TimeoutError` call
   * `find` to see whether the session is approved.
   */
  async check(sessionId: string, code: string, options?: CallOptions): Promise<CheckedCode> {
    const path = `${sessionPath(sessionId)}/check`;
    const call = { method: 'POST', path, repeatable: 'when-untouched', body: { code } } as const;
    return this.#transport.sendForBody(call, isCheckedCode, options);
  }

  /** Live events of sessions. Stays open until you close it. */
  realtime(options: RealtimeOptions = {}): Realtime<Session> {
    return realtime({ ...options, ...this.#live });
  }

  /** A ticket for the page of this session: what its `realtime({ ticket })` requests from you. */
  realtimeTicket(sessionId: string, options?: CallOptions): Promise<RealtimeTicket> {
    const call = { method: 'POST', path: `${sessionPath(sessionId)}/realtime-ticket`, repeatable: 'always' } as const;
    return this.#transport.sendForBody(call, isTicket, options);
  }

  usage({ from, to, groupBy }: UsageQuery = {}, options?: CallOptions): Promise<UsageReport> {
    const path = `/v1/usage${queryText({ from: instantText(from), to: instantText(to), groupBy })}`;
    return this.#transport.sendForBody({ method: 'GET', path, repeatable: 'always' }, isUsageReport, options);
  }

  /** The account's webhook deliveries, newest first. */
  listDeliveries(query: DeliveryQuery = {}, options?: CallOptions): Promise<Page<Delivery>> {
    const path = `/v1/webhooks/deliveries${queryText({ ...query })}`;
    return this.#transport.sendForBody({ method: 'GET', path, repeatable: 'always' }, pageOf(isDelivery), options);
  }

  async findDelivery(deliveryId: string, options?: CallOptions): Promise<Delivery> {
    const call = { method: 'GET', path: deliveryPath(deliveryId), repeatable: 'always' } as const;
    return this.#transport.sendForBody(call, isDelivery, options);
  }

  /** Posts it once more, whatever its status: the receiver recognises it by its `webhook-id`. */
  async retryDelivery(deliveryId: string, options?: CallOptions): Promise<Delivery> {
    const path = `${deliveryPath(deliveryId)}/retry`;
    return this.#transport.sendForBody({ method: 'POST', path, repeatable: 'when-untouched' }, isDelivery, options);
  }

  /**
   * Posts a `webhook.test` to this URL, or to the account's default URL for the key's mode; `findDelivery` returns
   * the result.
   */
  testWebhook(url?: string, options?: CallOptions): Promise<Delivery> {
    const body = url === undefined ? {} : { body: { url } };
    const call = { method: 'POST', path: '/v1/webhooks/test', repeatable: 'when-untouched', ...body } as const;
    return this.#transport.sendForBody(call, isDelivery, options);
  }

  /** Creates a new webhook secret, returned only here. Until `previousValidUntil` webhooks have both signatures. */
  rotateWebhookSecret(options?: CallOptions): Promise<RotatedSecret> {
    const call = { method: 'POST', path: '/v1/webhooks/secret/rotate', repeatable: 'when-untouched' } as const;
    return this.#transport.sendForBody(call, isRotatedSecret, options);
  }
}

const secondsBetween = (from: string, to: number): number => (to - Date.parse(from)) / 1000;

const approvedSecondsAgo = ({ approvedAt }: ApprovedSession): number => secondsBetween(approvedAt, Date.now());

const ttlSecondsOf = ({ createdAt, expiresAt }: Session): number => secondsBetween(createdAt, Date.parse(expiresAt));

/** @throws TypeError for a URL over which the key could be read */
function safeBaseUrl(text: string): string {
  const url = new URL(text);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)) throw new TypeError('baseUrl must be https.');
  if (url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TypeError('baseUrl must be a plain address.');
  return url.href.replace(/\/+$/, '');
}

function sessionPath(sessionId: string): string {
  return `/v1/verify/${pathPart(sessionId, 'SESSION_NOT_FOUND')}`;
}

function deliveryPath(deliveryId: string): string {
  return `/v1/webhooks/deliveries/${pathPart(deliveryId, 'NOT_FOUND')}`;
}

const isTicket = (value: unknown): value is RealtimeTicket =>
  isObject(value) && isText(value['ticket']) && isText(value['url']);

function instantText(instant: string | Date | undefined): string | undefined {
  return instant instanceof Date ? instant.toISOString() : instant;
}
