import { apiErrorOf, ConnectionError, CountersignError, TimeoutError, UnexpectedAnswerError } from './errors.js';
import { parseErrorAnswer } from './error-answer.js';
import { parseJson } from './fields.js';
import { type Repeatable, type RetryRules, waitBeforeRetry } from './retry.js';
import { SDK_VERSION } from './sdk-version.js';

/** The request passed to `fetch`. */
export interface FetchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly redirect: 'error';
}

/** The used part of a response. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** The global `fetch`, undici's, or your own: for your own CA, a proxy, or tests. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchAnswer>;

/** The bounds of a call. */
export interface CallLimits extends RetryRules {
  /** Timeout of the whole call, including retries and waits. */
  readonly timeoutMs: number;
  /** Timeout of one attempt. */
  readonly attemptTimeoutMs: number;
}

export interface TransportOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: FetchFunction;
  readonly limits: CallLimits;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call: it throws the signal's reason. The service may finish work that it has started. */
  readonly signal?: AbortSignal;
  /** Timeout of the whole call, including retries and waits. */
  readonly timeoutMs?: number;
}

export interface Call {
  readonly method: FetchRequest['method'];
  /** Path and query. */
  readonly path: string;
  readonly repeatable: Repeatable;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
}

/** Sends a call, with retries where they are safe. Every retry has the same octets and the same key. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * Returns the body if the guard accepts it.
   *
   * @throws UnexpectedAnswerError for any other body
   */
  async sendForBody<Body>(
    call: Call,
    isBody: (value: unknown) => value is Body,
    options: CallOptions = {},
  ): Promise<Body> {
    const { status, requestId, text } = await this.send(call, options);
    const body = parseJson(text);
    if (!isBody(body)) throw new UnexpectedAnswerError(status, requestId);
    return body;
  }

  async send(call: Call, { signal, timeoutMs = this.#options.limits.timeoutMs }: CallOptions = {}): Promise<Answer> {
    const request = this.requestOf(call);
    const deadlineMs = performance.now() + timeoutMs;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.attempt(call.path, request, signal, deadlineMs - performance.now());
      } catch (error) {
        signal?.throwIfAborted();
        const waitMs = waitBeforeRetry(error, call.repeatable, tries, this.#options.limits, Math.random());
        if (waitMs === null || performance.now() + waitMs >= deadlineMs) throw error;
        await wait(waitMs, signal);
      }
    }
  }

  private requestOf({ method, body, idempotencyKey }: Call): Omit<FetchRequest, 'signal'> {
    return {
      method,
      redirect: 'error',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${this.#options.apiKey}`,
        'user-agent': `countersign-sdk/${SDK_VERSION}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
  }

  private async attempt(
    path: string,
    request: Omit<FetchRequest, 'signal'>,
    signal: AbortSignal | undefined,
    remainingMs: number,
  ): Promise<Answer> {
    signal?.throwIfAborted();
    const timeoutMs = Math.max(Math.min(this.#options.limits.attemptTimeoutMs, Math.ceil(remainingMs)), 1);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
      const answer = await this.#options.fetch(`${this.#options.baseUrl}${path}`, { ...request, signal: either });
      return answerOf(answer.status, answer.headers, await answer.text());
    } catch (error) {
      if (error instanceof CountersignError) throw error;
      signal?.throwIfAborted();
      const what = `${request.method} ${path}`;
      if (timeout.aborted) throw new TimeoutError(`${what}: no answer within ${timeoutMs} ms.`, { cause: error });
      throw new ConnectionError(`${what}: no answer.`, { cause: error });
    }
  }
}

export interface Answer {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly text: string;
}

/** Returns a success; throws the error of any other response. */
function answerOf(status: number, headers: FetchAnswer['headers'], text: string): Answer {
  const requestId = headers.get('x-request-id') ?? undefined;
  if (status >= 200 && status < 300) return { status, requestId, text };
  const refusal = parseErrorAnswer({ status, requestId, text }, headers.get('retry-after'));
  if (refusal === null) throw new UnexpectedAnswerError(status, requestId);
  throw apiErrorOf(refusal.code, refusal.answer);
}

/** @throws the signal's reason when it is aborted */
function wait(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, durationMs);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('The call was aborted.', { cause: reason });
}
