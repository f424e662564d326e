import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { FIND_ACCOUNT_URLS } from './account-url.sql.js';

/** URLs that are remembered at most, and for how long: then they are read again. */
const MAX_REMEMBERED = 10_000;
const REMEMBERED_MS = 3_600_000;

/** An event with a URL that should be its account's. */
export interface UrlClaim {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly url: string;
  readonly sessionCreatedAt: Date;
}

/**
 * Checks that URLs of events are URLs that a control plane stored for the account. They are read once an hour and process,
 * so that a dispatch needs no statement of its own for it.
 */
export class AccountUrls {
  /** Monotonic milliseconds until which a URL of an account is known. */
  private readonly known = new Map<string, number>();

  /** The ids of the claims that are wrong. */
  async findWrong(tx: Executor, claims: readonly UrlClaim[]): Promise<ReadonlySet<Uuid>> {
    const nowMs = performance.now();
    const unknown = claims.filter((claim) => (this.known.get(keyOf(claim)) ?? -Infinity) < nowMs);
    if (unknown.length === 0) return new Set();
    const right = await tx.query<{ id: Uuid }>(FIND_ACCOUNT_URLS, [
      unknown.map(({ id }) => id),
      unknown.map(({ accountId }) => accountId),
      unknown.map(({ test }) => test),
      unknown.map(({ url }) => url),
      unknown.map(({ sessionCreatedAt }) => sessionCreatedAt),
    ]);
    const rightIds = new Set(right.map(({ id }) => id));
    for (const claim of unknown) if (rightIds.has(claim.id)) this.remember(keyOf(claim), nowMs);
    return new Set(unknown.flatMap(({ id }) => (rightIds.has(id) ? [] : [id])));
  }

  private remember(key: string, nowMs: number): void {
    if (this.known.size >= MAX_REMEMBERED) this.known.clear();
    this.known.set(key, nowMs + REMEMBERED_MS);
  }
}

const keyOf = ({ accountId, test, url }: UrlClaim): string => `${accountId} ${test} ${url}`;
