import type { IncomingHttpHeaders } from 'node:http';
import { webhookSignature } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { Dispatcher } from 'undici';
import type { AttemptResult } from './attempt.js';
import { ProxyAway, TargetRefused } from './guarded-agent.js';
import type { TargetCheck, TargetRules } from '../targets/target.js';

/** A whole attempt: look-up, connection, request and the part of the response that is read (contract, Webhooks). */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** The body of a response is not used; this much is read, for this long, so that the connection can be reused. */
const MAX_REPLY_OCTETS = 4 * 1024;
const REPLY_TIMEOUT_MS = 1_000;
const MAX_ERROR_LENGTH = 64;
/** URLs whose check is remembered. */
const MAX_CHECKED = 1_000;
/** 1xx responses are interim. */
const FIRST_FINAL_STATUS = 200;
/** Interim responses to one request at most. */
const MAX_INTERIM_RESPONSES = 10;

export interface Post {
  readonly eventId: Uuid;
  readonly url: string;
  /** The same octets on every attempt. */
  readonly body: string;
  /** `whsec_…` each; one signature for every secret. */
  readonly secrets: readonly string[];
  /** Unix milliseconds, part of the signature of this attempt. */
  readonly nowMs: number;
}

/** The headers of Standard Webhooks 1.0, signatures included. The id is the same on every attempt and retry. */
export function signedHeaders({ eventId, body, secrets, nowMs }: Omit<Post, 'url'>): Record<string, string> {
  const id = renderId('evt', eventId);
  const seconds = String(Math.floor(nowMs / 1000));
  const signed = `${id}.${seconds}.${body}`;
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Countersign',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => webhookSignature(secret, signed)).join(' '),
  };
}

/** Makes single attempts. Redirects are not followed. */
export class WebhookPoster {
  private readonly checked = new Map<string, TargetCheck>();

  constructor(
    private readonly rules: TargetRules,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** Never rejects. */
  async post(post: Post): Promise<AttemptResult> {
    const target = this.checkUrl(post.url);
    if (!target.ok) return { kind: 'blocked', error: target.because };
    try {
      return await this.send(target.url, post);
    } catch (error) {
      if (error instanceof TargetRefused) return { kind: 'blocked', error: error.message };
      if (error instanceof ProxyAway)
        return { kind: 'failed', error: `proxy: ${errorCodeOf(error.cause)}`, notSent: true };
      return { kind: 'failed', error: errorCodeOf(error) };
    }
  }

  /** Closes all connections and aborts requests under way. */
  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  /** The check of a URL text never changes; its addresses are checked at every connect. */
  private checkUrl(url: string): TargetCheck {
    const known = this.checked.get(url);
    if (known !== undefined) return known;
    if (this.checked.size >= MAX_CHECKED) this.checked.clear();
    const check = this.rules.check(url);
    this.checked.set(url, check);
    return check;
  }

  private send({ origin, pathname, search }: URL, post: Post): Promise<AttemptResult> {
    return new Promise((resolve, reject) => {
      const path = pathname + search;
      const headers = signedHeaders(post);
      const exchange = new Exchange(resolve, reject);
      this.dispatcher.dispatch({ origin, path, method: 'POST', headers, body: post.body, ...NO_TIMEOUTS }, exchange);
    });
  }
}

/** The deadline of the attempt replaces the timeouts of undici. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/**
 * One request and the head of its response. The status decides: a response with a slow, broken or endless body counts.
 * Settles within the deadline, whatever the connection does.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private timer = setTimeout(() => this.onDeadline(), ATTEMPT_TIMEOUT_MS);
  private controller: Dispatcher.DispatchController | null = null;
  private response: AttemptResult | null = null;
  private interimResponses = 0;
  private octets = 0;
  private timedOut = false;

  constructor(
    private readonly resolve: (result: AttemptResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.timedOut) controller.abort(new TimedOut());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < FIRST_FINAL_STATUS) {
      this.interimResponses += 1;
      if (this.interimResponses > MAX_INTERIM_RESPONSES) controller.abort(new InterimFlood());
      return;
    }
    const retryAfter = headers['retry-after'];
    this.response = { kind: 'answered', status, retryAfter: typeof retryAfter === 'string' ? retryAfter : null };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.onDeadline(), REPLY_TIMEOUT_MS);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.octets += chunk.length;
    if (this.octets > MAX_REPLY_OCTETS) controller.abort(new Error('the rest of the response is not read'));
  }

  onResponseEnd(): void {
    this.settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.settle(error);
  }

  private onDeadline(): void {
    this.timedOut = true;
    this.controller?.abort(new TimedOut());
    this.settle(new TimedOut());
  }

  private settle(error: Error | null): void {
    clearTimeout(this.timer);
    if (this.response === null) this.reject(error ?? new Error('the response has no head'));
    else this.resolve(this.response);
  }
}

/** No response within the deadline. */
class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

/** The receiver sent too many interim responses. */
class InterimFlood extends Error {
  override readonly name = 'TooManyInterimAnswers';
}

/** The error code of Node or undici, without addresses and without text of the receiver. */
function errorCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  if ('code' in error && typeof error.code === 'string') return error.code.slice(0, MAX_ERROR_LENGTH);
  return error.name.slice(0, MAX_ERROR_LENGTH);
}
