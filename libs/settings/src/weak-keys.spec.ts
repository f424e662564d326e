import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CONTROL_PLANE, controlPlaneFaults, faultsOf } from './environment.fixture.js';
import { GatewaySettings, loadSettings } from './index.js';

const run = (first: number, step: number): string =>
  Buffer.from(Array.from({ length: 32 }, (_, at) => (first + at * step + 256 * 32) % 256)).toString('base64');
const WEAK = { zeros: run(0, 0), 'ones in every bit': run(255, 0), ascending: run(0, 1), descending: run(31, -1) };
const WEAK_KEYS = Object.entries(WEAK);
const strong = (): string => randomBytes(32).toString('base64');

const inProduction = (changes: Record<string, string>): ReturnType<typeof controlPlaneFaults> =>
  controlPlaneFaults({ NODE_ENV: 'production', ...changes });

describe('a key that nobody drew at random', () => {
  it.each(WEAK_KEYS)(
    'of %s is no master key in production, for neither daemon, and its value is not shown',
    (_, key) => {
      const allowed = expect.stringContaining('openssl rand -base64 32') as string;
      const faults = [{ variable: 'COUNTERSIGN_MASTER_KEY', fault: expect.any(String) as string, allowed }];
      const changes = { COUNTERSIGN_MASTER_KEY: key };
      expect(inProduction(changes)).toEqual(faults);
      expect(inProduction({ COUNTERSIGN_MASTER_KEY: `2:${key},1:${run(7, 3)}` })).toEqual(faults);
      const gateway = { ...CONTROL_PLANE, NODE_ENV: 'production', ...changes };
      expect(faultsOf(() => loadSettings(GatewaySettings, gateway))).toEqual(faults);
      expect(JSON.stringify(inProduction(changes))).not.toContain(key);
    },
  );

  it.each(WEAK_KEYS)('of %s is no current entropy key in production', (_, key) => {
    const allowed = expect.stringContaining('openssl rand -base64 32') as string;
    const faults = [{ variable: 'COUNTERSIGN_ENTROPY_KEYS', fault: expect.any(String) as string, allowed }];
    for (const keys of [`1:${key}`, `1:${strong()},2:${key}`, `2:${key},1:${strong()}`]) {
      expect(inProduction({ COUNTERSIGN_ENTROPY_KEYS: keys })).toEqual(faults);
    }
  });

  it.each(['a'.repeat(38), '0'.repeat(38), '0123456789ABCDEFGHIJKLMNOPQRSTUV000000', `${'z'.repeat(32)}3kX9aB`])(
    'csk_admin_%s is no admin key in production',
    (tail) => {
      const faults = inProduction({ COUNTERSIGN_ADMIN_KEY: `csk_admin_${tail}` });
      const allowed = expect.stringContaining('countersign.env.sample') as string;
      expect(faults).toEqual([{ variable: 'COUNTERSIGN_ADMIN_KEY', fault: expect.any(String) as string, allowed }]);
      expect(JSON.stringify(faults)).not.toContain(tail);
    },
  );

  it('may be replaced: with a better one beside it, in either order, it is taken', () => {
    const [weak, good] = [WEAK.zeros, strong()];
    for (const keys of [`1:${weak},2:${good}`, `2:${good},1:${weak}`]) {
      expect(inProduction({ COUNTERSIGN_MASTER_KEY: keys })).toEqual([]);
      expect(inProduction({ COUNTERSIGN_ENTROPY_KEYS: keys })).toEqual([]);
    }
  });

  it.each(['development', 'test', ''])('is taken where NODE_ENV is "%s"', (NODE_ENV) => {
    const changes = {
      COUNTERSIGN_MASTER_KEY: WEAK.zeros,
      COUNTERSIGN_ENTROPY_KEYS: `1:${WEAK.ascending}`,
      COUNTERSIGN_ADMIN_KEY: `csk_admin_${'a'.repeat(38)}`,
    };
    expect(controlPlaneFaults({ NODE_ENV, ...changes })).toEqual([]);
  });

  it('is none of 1,000 that were', () => {
    for (let n = 0; n < 1_000; n += 1) {
      expect(inProduction({ COUNTERSIGN_MASTER_KEY: strong() })).toEqual([]);
    }
  });
});
