import { describe, expect, it } from 'vitest';
import { readinessChecks } from './readiness.js';

const checksOf = (parts: { driftMs?: number; askQueue?: () => Promise<unknown>; query?: () => Promise<never[]> }) =>
  readinessChecks({
    database: { query: parts.query ?? (() => Promise.resolve([])) },
    clock: { driftMs: parts.driftMs ?? 0 },
    askQueue: parts.askQueue ?? (() => Promise.resolve()),
  });
const away = () => Promise.reject(new Error('away'));

describe('readiness', () => {
  it('needs the database', async () => {
    await expect(checksOf({ query: away })['database']?.()).rejects.toThrow('away');
    await expect(checksOf({})['database']?.()).resolves.toBeUndefined();
  });

  it('needs a clock within five seconds of the database’s', () => {
    expect(() => checksOf({ driftMs: 5_001 })['clock']?.()).toThrow('5001 ms');
    expect(() => checksOf({ driftMs: -5_001 })['clock']?.()).toThrow('-5001 ms');
    expect(() => checksOf({ driftMs: -5_000 })['clock']?.()).not.toThrow();
  });

  it('needs the queue to answer once, and lives without it from then on', async () => {
    let up = false;
    const checks = checksOf({ askQueue: () => (up ? Promise.resolve() : away()) });
    await expect(checks['queue']?.()).rejects.toThrow('away');
    up = true;
    await checks['queue']?.();
    up = false;
    await expect(checks['queue']?.()).resolves.toBeUndefined();
  });
});
