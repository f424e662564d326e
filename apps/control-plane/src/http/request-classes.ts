import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { ConnectionStanding } from './connection-limits.js';

/** Classes of requests in the order in which they begin: calls of a session, then new sessions, then reports and all others. */
export const CLASSES = ['session', 'create', 'report'] as const;

export type RequestClass = (typeof CLASSES)[number];

/** How long requests with a key whose quota is used up are of the last class, and how many keys are remembered. */
const OVER_QUOTA_MS = 5_000;
const MAX_OVER_QUOTA = 10_000;

/**
 * The class of a request, which is read from its path, before its key is known. So that a caller without a valid key, or one whose quota
 * is used up, does not go before others with the path of a call of a session, the last class is that of the requests of a connection
 * without a valid key after its first one, and of those with a key that was refused by its quota in the last seconds.
 *
 * Times are of the monotonic clock.
 */
export class RequestClasses {
  /** Digests of the `Authorization` of requests that were refused by a quota, and until when they are of the last class. */
  readonly #overQuotaUntilMs = new LRUCache<string, number>({ max: MAX_OVER_QUOTA });
  #latestOverQuotaMs = 0;
  /** Connections that have sent a request. */
  readonly #known = new WeakSet<Socket>();

  classOf(request: IncomingMessage, standing: ConnectionStanding, nowMs: number): RequestClass {
    if (standing === 'unknown') {
      if (this.#known.has(request.socket)) return 'report';
      this.#known.add(request.socket);
    }
    return this.isOverQuota(request, nowMs) ? 'report' : classOfPath(request);
  }

  /** Call when a request was refused because all that its key may send was sent. */
  noteQuotaExceeded({ headers: { authorization } }: IncomingMessage, nowMs: number): void {
    if (authorization === undefined) return;
    this.#latestOverQuotaMs = nowMs + OVER_QUOTA_MS;
    this.#overQuotaUntilMs.set(digestOf(authorization), this.#latestOverQuotaMs);
  }

  private isOverQuota({ headers: { authorization } }: IncomingMessage, nowMs: number): boolean {
    // Most of the time nobody is over a quota, and no digest is computed.
    if (this.#latestOverQuotaMs <= nowMs || authorization === undefined) return false;
    return (this.#overQuotaUntilMs.get(digestOf(authorization)) ?? 0) > nowMs;
  }
}

function classOfPath({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): RequestClass {
  if (url.startsWith('/v1/verify/')) return 'session';
  return method === 'POST' && url === '/v1/verify' ? 'create' : 'report';
}

const digestOf = (authorization: string): string => createHash('sha256').update(authorization).digest('base64url');
