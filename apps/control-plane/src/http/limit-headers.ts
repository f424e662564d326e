import type { Quota, QuotaResult } from '@countersign/bus';

/** A quota with the name that the headers show. */
export interface Policy extends Quota {
  readonly name: string;
}

/** The policies that count a request, with their text for RateLimit-Policy: the same for every request of a key. */
export interface PolicySet {
  readonly policies: readonly Policy[];
  readonly text: string;
}

/** Rate limit headers of a response, by header name in lower case. */
export type LimitHeaders = Readonly<Record<string, string>>;

export function policySet(policies: readonly Policy[]): PolicySet {
  return {
    policies,
    text: policies.map((each) => `"${each.name}";q=${each.limit};w=${each.windowSeconds}`).join(', '),
  };
}

/** Whole seconds, rounded up, until a window is over; at least 1. */
export function resetSeconds({ resetMs }: QuotaResult): number {
  return Math.max(Math.ceil(resetMs / 1000), 1);
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers, and the older ones for the policy nearest to exhaustion
 * (contract, General). One result for each policy, in the same order. Built by hand for every request: a serialiser
 * of structured fields costs more than the rest of the limits together, and the test parses the result with one.
 */
export function limitHeaders(
  { policies, text }: PolicySet,
  results: readonly QuotaResult[],
  nowMs: number,
): LimitHeaders {
  let rateLimit = '';
  let nearest: { policy: Policy; result: QuotaResult } | undefined;
  for (const [index, policy] of policies.entries()) {
    const result = results[index];
    if (result === undefined) throw new Error('rate limit headers: a policy has no result');
    rateLimit += `${index === 0 ? '' : ', '}"${policy.name}";r=${result.remaining};t=${resetSeconds(result)}`;
    if (nearest === undefined || result.remaining < nearest.result.remaining) nearest = { policy, result };
  }
  if (nearest === undefined) throw new Error('rate limit headers: the policy set is empty');
  return {
    'ratelimit-policy': text,
    ratelimit: rateLimit,
    'x-ratelimit-limit': String(nearest.policy.limit),
    'x-ratelimit-remaining': String(nearest.result.remaining),
    'x-ratelimit-reset': String(Math.ceil((nowMs + nearest.result.resetMs) / 1000)),
  };
}
