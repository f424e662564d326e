import { describe, expect, it } from 'vitest';
import { readinessChecks } from './readiness.js';

const checksOf = ({ pingQueue = () => Promise.resolve() }: { pingQueue?: () => Promise<unknown> }) =>
  readinessChecks({ database: { query: () => Promise.resolve([]) }, clock: { driftMs: 0 }, pingQueue });
const away = () => Promise.reject(new Error('away'));

describe('readiness', () => {
  it('checks the database, its clock and the queue', () => {
    expect(Object.keys(checksOf({}))).toEqual(['database', 'clock', 'queue']);
  });

  it('requires the queue to answer once, and ignores it from then on', async () => {
    let up = false;
    const checks = checksOf({ pingQueue: () => (up ? Promise.resolve() : away()) });
    await expect(checks['queue']?.()).rejects.toThrow('away');
    up = true;
    await checks['queue']?.();
    up = false;
    await expect(checks['queue']?.()).resolves.toBeUndefined();
  });
});
