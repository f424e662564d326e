import { describe, expect, it } from 'vitest';
import { readinessOf } from './readiness-checks.js';

const checksOf = (parts: { driftMs?: number; query?: () => Promise<never[]> }) =>
  readinessOf({ query: parts.query ?? (() => Promise.resolve([])) }, { driftMs: parts.driftMs ?? 0 });

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
