import type { QuotaResult } from '@countersign/bus';
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { limitHeaders, policySet, resetSeconds } from './limit-headers.js';

const standing = (remaining: number, resetMs: number): QuotaResult => ({
  allowed: remaining > 0,
  remaining,
  resetMs,
  away: false,
});
const set = policySet([
  { name: 'default', limit: 600, windowSeconds: 60 },
  { name: 'create', limit: 300, windowSeconds: 60 },
]);

describe('the rate limit headers', () => {
  it('are those of the contract', () => {
    expect(limitHeaders(set, [standing(598, 41_500), standing(299, 41_500)], 1_700_000_000_000)).toEqual({
      'ratelimit-policy': '"default";q=600;w=60, "create";q=300;w=60',
      ratelimit: '"default";r=598;t=42, "create";r=299;t=42',
      'x-ratelimit-limit': '300',
      'x-ratelimit-remaining': '299',
      'x-ratelimit-reset': '1700000042',
    });
  });

  it('show the policy nearest to exhaustion in the older headers', () => {
    const headers = limitHeaders(set, [standing(3, 9_000), standing(299, 41_000)], 0);
    expect([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], headers['x-ratelimit-reset']]).toEqual([
      '600',
      '3',
      '9',
    ]);
  });

  it('are structured fields with the counted values', () => {
    const counts = fc.record({ remaining: fc.nat(1_000_000), resetMs: fc.integer({ min: 1, max: 60_000 }) });
    fc.assert(
      fc.property(fc.tuple(counts, counts), (counted) => {
        const standings = counted.map(({ remaining, resetMs }) => standing(remaining, resetMs));
        const headers = limitHeaders(set, standings, 0);
        expect(parseList(headers['ratelimit'] ?? '')).toEqual(
          ['default', 'create'].map((name, index) => [
            name,
            new Map([
              ['r', counted[index]?.remaining],
              ['t', Math.ceil((counted[index]?.resetMs ?? 0) / 1000)],
            ]),
          ]),
        );
        expect(parseList(headers['ratelimit-policy'] ?? '')).toEqual(
          set.policies.map(({ name, limit }) => [
            name,
            new Map([
              ['q', limit],
              ['w', 60],
            ]),
          ]),
        );
      }),
    );
  });

  it('never show a reset of zero seconds', () => {
    expect([1, 999, 1_000, 1_001].map((resetMs) => resetSeconds(standing(0, resetMs)))).toEqual([1, 1, 1, 2]);
  });
});
