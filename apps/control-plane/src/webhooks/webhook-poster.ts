import { renderId, type Uuid } from '@countersign/postgres';
import { Webhook } from 'standardwebhooks';
import { request, type Dispatcher } from 'undici';
import type { AttemptResult } from './attempt.js';
import { TargetRefused } from './guarded-agent.js';
import type { TargetRules } from './target.js';

/** One attempt in all: name, connection, request and the part of the answer that is read (contract, Webhooks). */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** What a receiver says back is of no interest; so much of it is read that the connection can be used again. */
const MAX_REPLY_OCTETS = 4 * 1024;
const MAX_ERROR_LENGTH = 64;

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
  const at = new Date(nowMs);
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Countersign',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  };
}

/** Makes single attempts. Redirects are answers like any other: nothing is followed. Never rejects. */
export class WebhookPoster {
  constructor(
    private readonly rules: TargetRules,
    private readonly dispatcher: Dispatcher,
  ) {}

  async post(post: Post): Promise<AttemptResult> {
    const target = this.rules.check(post.url);
    if (!target.ok) return { kind: 'blocked', error: target.because };
    try {
      return await this.send(target.url, post);
    } catch (error) {
      if (error instanceof TargetRefused) return { kind: 'blocked', error: error.message };
      return { kind: 'failed', error: shortWordFor(error) };
    }
  }

  /** Closes every connection, those under way too. */
  async close(): Promise<void> {
    await this.dispatcher.destroy();
  }

  private async send(url: URL, post: Post): Promise<AttemptResult> {
    const { statusCode, headers, body } = await request(url, {
      method: 'POST',
      dispatcher: this.dispatcher,
      headers: signedHeaders(post),
      body: post.body,
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
    });
    // The status is what counts; an answer whose rest is slow, broken or endless is an answer all the same.
    await body.dump({ limit: MAX_REPLY_OCTETS }).catch(() => undefined);
    const retryAfter = headers['retry-after'];
    return { kind: 'answered', status: statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : null };
  }
}

/** A word an operator knows: Node's and undici's own codes, without addresses or anything the receiver said. */
function shortWordFor(error: unknown): string {
  if (!(error instanceof Error)) return 'failed';
  if (error.name === 'TimeoutError') return 'timeout';
  if ('code' in error && typeof error.code === 'string') return error.code.slice(0, MAX_ERROR_LENGTH);
  return error.name.slice(0, MAX_ERROR_LENGTH);
}
