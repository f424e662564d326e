import type { IncomingHttpHeaders } from 'node:http';
import { webhookSignature } from '@countersign/keys';
import { renderId, type Uuid } from '@countersign/ids';
import type { Dispatcher } from 'undici';
import type { AttemptResult } from './attempt.js';
import { ProxyAway, TargetRefused } from './guarded-agent.js';
import type { TargetCheck, TargetRules } from '../targets/target.js';

/** One attempt in all: name, connection, request and the part of the answer that is read (contract, Webhooks). */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** What a receiver says back is of no interest; so much of it is read, and for so long, that the connection can be used again. */
const MAX_REPLY_OCTETS = 4 * 1024;
const REPLY_TIMEOUT_MS = 1_000;
const MAX_ERROR_LENGTH = 64;
/** URLs whose check is remembered. */
const MAX_CHECKED = 1_000;
/** Below it an answer only says that there will be one. */
const FIRST_FINAL_STATUS = 200;
/** So often it may be said: reading on costs whoever else is posted to. */
const MAX_INTERIM_ANSWERS = 10;

export interface Post {
  readonly eventId: Uuid;
  readonly url: string;
  /** The same octets on every attempt. */
  readonly body: string;
  /** `whsec_…` each; one signature for every secret. */
  readonly secrets: readonly string[];
  /** Unix milliseconds: the signature is made anew for every attempt. */
  readonly nowMs: number;
}

/** The headers that sign a body as Standard Webhooks 1.0 says. The id stays the same on every attempt and replay. */
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

/** Makes single attempts. Redirects are answers like any other: nothing is followed. Never rejects. */
export class WebhookPoster {
  private readonly checked = new Map<string, TargetCheck>();

  constructor(
    private readonly rules: TargetRules,
    private readonly dispatcher: Dispatcher,
  ) {}

  async post(post: Post): Promise<AttemptResult> {
    const target = this.check(post.url);
    if (!target.ok) return { kind: 'blocked', error: target.because };
    try {
      return await this.send(target.url, post);
    } catch (error) {
      if (error instanceof TargetRefused) return { kind: 'blocked', error: error.message };
      if (error instanceof ProxyAway)
        return { kind: 'failed', error: `proxy: ${shortWordFor(error.cause)}`, notSent: true };
      return { kind: 'failed', error: shortWordFor(error) };
    }
  }

  /** Closes every connection, those under way too. */
  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  /** What a URL says by itself does not change; the address it leads to is judged at every connect. */
  private check(url: string): TargetCheck {
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

/** The one deadline of an attempt covers all of it, from the name to the end of the answer. */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 } as const;

/**
 * One request and its answer, of which only the head is kept. The status is what counts: an answer whose rest is slow,
 * broken or endless is an answer all the same. Whatever the line does, this settles in time.
 */
class Exchange implements Dispatcher.DispatchHandler {
  private timer = setTimeout(() => this.giveUp(), ATTEMPT_TIMEOUT_MS);
  private controller: Dispatcher.DispatchController | null = null;
  private answer: AttemptResult | null = null;
  private interim = 0;
  private octets = 0;
  private late = false;

  constructor(
    private readonly resolve: (result: AttemptResult) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.late) controller.abort(new TimedOut());
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < FIRST_FINAL_STATUS) {
      this.interim += 1;
      if (this.interim > MAX_INTERIM_ANSWERS) controller.abort(new InterimFlood());
      return;
    }
    const retryAfter = headers['retry-after'];
    this.answer = { kind: 'answered', status, retryAfter: typeof retryAfter === 'string' ? retryAfter : null };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.giveUp(), REPLY_TIMEOUT_MS);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.octets += chunk.length;
    if (this.octets > MAX_REPLY_OCTETS) controller.abort(new Error('enough was read'));
  }

  onResponseEnd(): void {
    this.settle(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.settle(error);
  }

  private giveUp(): void {
    this.late = true;
    this.controller?.abort(new TimedOut());
    this.settle(new TimedOut());
  }

  private settle(error: Error | null): void {
    clearTimeout(this.timer);
    if (this.answer === null) this.reject(error ?? new Error('the answer has no head'));
    else this.resolve(this.answer);
  }
}

/** No answer in the time that an attempt has. */
class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

/** A receiver that goes on saying that it will answer. */
class InterimFlood extends Error {
  override readonly name = 'TooManyInterimAnswers';
}

/** A word an operator knows: Node's and undici's own codes, without addresses or anything the receiver said. */
function shortWordFor(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  if ('code' in error && typeof error.code === 'string') return error.code.slice(0, MAX_ERROR_LENGTH);
  return error.name.slice(0, MAX_ERROR_LENGTH);
}
