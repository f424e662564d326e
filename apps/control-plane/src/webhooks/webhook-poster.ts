import type { IncomingHttpHeaders } from 'node:http';
import { webhookSignature } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { ControlPlaneSettings } from '@countersign/settings';
import type { Dispatcher } from 'undici';
import type { AttemptResult } from './attempt.js';
import type { ShareOwner } from './account-shares.js';
import { guardedAgent, ProxyAway, TargetRefused } from './guarded-agent.js';
import { excessOf, MAX_SLOW_TEST, SLOW_MS } from './slow-posts.js';
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
/** How often slow POSTs are counted, while there are more POSTs than one account may have slow ones. */
const SLOW_INTERVAL_MS = 500;

export interface Post {
  readonly eventId: Uuid;
  /** Whose it is: the slow ones of each are limited. */
  readonly owner: ShareOwner;
  readonly url: string;
  /** The same octets on every attempt. */
  readonly body: string;
  /** `whsec_…` each; one signature for every secret. */
  readonly secrets: readonly string[];
  /** Unix milliseconds, part of the signature of this attempt. */
  readonly nowMs: number;
}

/** The headers of Standard Webhooks 1.0, signatures included. The id is the same on every attempt and retry. */
export function signedHeaders({ eventId, body, secrets, nowMs }: Omit<Post, 'url' | 'owner'>): Record<string, string> {
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

/** Makes single attempts. Redirects are not followed. Ends the slowest ones beyond the limits of `slow-posts.ts`. */
export class WebhookPoster {
  private readonly checked = new Map<string, TargetCheck>();
  /** In the order of their start. */
  private readonly underWay = new Set<Exchange>();
  private slowTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly rules: TargetRules,
    private readonly dispatcher: Dispatcher,
  ) {}

  /** Posts through the proxy of the settings, if there is one. */
  static open(
    rules: TargetRules,
    { webhookEgressProxy }: Pick<ControlPlaneSettings, 'webhookEgressProxy'>,
  ): WebhookPoster {
    return new WebhookPoster(rules, guardedAgent(rules, webhookEgressProxy));
  }

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
    clearInterval(this.slowTimer);
    await this.dispatcher.destroy();
  }

  private endSlowest(): void {
    if (this.underWay.size <= MAX_SLOW_TEST) {
      clearInterval(this.slowTimer);
      this.slowTimer = undefined;
      return;
    }
    const startedBeforeMs = performance.now() - SLOW_MS;
    const slow = [...this.underWay].filter((each) => each.isConnected && each.startedMs <= startedBeforeMs);
    for (const exchange of excessOf(slow)) exchange.end(new TooManySlow());
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
      const exchange = new Exchange(post.owner, resolve, reject, (ended) => this.underWay.delete(ended));
      this.underWay.add(exchange);
      if (this.underWay.size > MAX_SLOW_TEST) {
        this.slowTimer ??= setInterval(() => this.endSlowest(), SLOW_INTERVAL_MS).unref();
      }
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
  readonly startedMs = performance.now();
  private timer = setTimeout(() => this.onDeadline(), ATTEMPT_TIMEOUT_MS);
  private controller: Dispatcher.DispatchController | null = null;
  private response: AttemptResult | null = null;
  private interimResponses = 0;
  private octets = 0;
  /** Why the attempt was ended before its connection was there. */
  private ended: Error | null = null;

  constructor(
    readonly owner: ShareOwner,
    private readonly resolve: (result: AttemptResult) => void,
    private readonly reject: (error: unknown) => void,
    private readonly onSettled: (exchange: Exchange) => void,
  ) {}

  /** Without a connection there is nothing to close yet: its own timeout is shorter. */
  get isConnected(): boolean {
    return this.controller !== null;
  }

  /** Ends the attempt now. A response whose head was received counts. */
  end(error: Error): void {
    this.ended = error;
    this.controller?.abort(error);
    this.settle(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.ended !== null) controller.abort(this.ended);
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
    this.end(new TimedOut());
  }

  private settle(error: Error | null): void {
    clearTimeout(this.timer);
    this.onSettled(this);
    if (this.response === null) this.reject(error ?? new Error('the response has no head'));
    else this.resolve(this.response);
  }
}

/** No response within the deadline. */
class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

/** Too many receivers of the account, or of all, are slow. */
class TooManySlow extends Error {
  override readonly name = 'TooManySlowReceivers';
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
