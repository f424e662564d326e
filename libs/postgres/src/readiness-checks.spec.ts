import { describe, expect, it } from 'vitest';
import type { Executor } from './executor.js';
import { readinessOf } from './readiness-checks.js';

const takesWrites = (): Promise<object[]> => Promise.resolve([{ readOnly: false }]);

const checksOf = (parts: { driftMs?: number; query?: () => Promise<object[]> }) =>
  readinessOf({ query: (parts.query ?? takesWrites) as Executor['query'] }, { driftMs: parts.driftMs ?? 0 });

describe('the readiness of PostgreSQL', () => {
  it('requires that it answers', async () => {
    await expect(checksOf({ query: () => Promise.reject(new Error('away')) }).database()).rejects.toThrow('away');
    await expect(checksOf({}).database()).resolves.toBeUndefined();
  });

  it('requires a clock within five seconds of the database’s', () => {
    expect(() => checksOf({ driftMs: 5_001 }).clock()).toThrow('5001 ms');
    expect(() => checksOf({ driftMs: -5_001 }).clock()).toThrow('-5001 ms');
    expect(() => checksOf({ driftMs: -5_000 }).clock()).not.toThrow();
  });
});
