import type { ShareOwner } from './account-shares.js';

/** A POST is slow from this time on without a response. */
export const SLOW_MS = 2_000;
/** Slow POSTs of all accounts: the places left are for the others. */
export const MAX_SLOW = 192;
/** Slow POSTs of live deliveries of one account, and of its test deliveries. */
export const MAX_SLOW_LIVE = 48;
export const MAX_SLOW_TEST = 12;

/** A POST under way. */
export interface SlowPost {
  readonly owner: ShareOwner;
}

/**
 * The slow POSTs that are to end, so that those of each account and of all stay within their limits: the slowest first, and
 * beyond MAX_SLOW those of the accounts that have most.
 *
 * @param slow slowest first
 */
export function excessOf<Post extends SlowPost>(slow: readonly Post[]): Post[] {
  const byOwner = new Map<string, Post[]>();
  for (const post of slow) {
    const key = `${post.owner.accountId} ${String(post.owner.test)}`;
    const ofOwner = byOwner.get(key);
    if (ofOwner === undefined) byOwner.set(key, [post]);
    else ofOwner.push(post);
  }
  const most = commonLimit([...byOwner.values()].map((posts) => Math.min(posts.length, limitOf(posts))));
  return [...byOwner.values()].flatMap((posts) => posts.slice(0, -Math.min(most, limitOf(posts))));
}

const limitOf = ([first]: readonly SlowPost[]): number => (first?.owner.test === true ? MAX_SLOW_TEST : MAX_SLOW_LIVE);

/** The highest limit per account, at least one, with which these counts are MAX_SLOW together. */
function commonLimit(counts: readonly number[]): number {
  let limit = MAX_SLOW_LIVE;
  const all = (): number => counts.reduce((sum, count) => sum + Math.min(count, limit), 0);
  while (limit > 1 && all() > MAX_SLOW) limit -= 1;
  return limit;
}
