import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CONTROL_PLANE, controlPlaneFaults } from './environment.fixture.js';
import { ControlPlaneSettings, loadSettings } from './index.js';

const ADMIN_KEY = `csk_admin_${randomBytes(19).toString('hex')}`;
const SECRET = ADMIN_KEY.slice('csk_admin_'.length);
const [MASTER, OTHER] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const inProduction = (changes: Record<string, string>): ReturnType<typeof controlPlaneFaults> =>
  controlPlaneFaults({
    NODE_ENV: 'production',
    COUNTERSIGN_MASTER_KEY: MASTER,
    COUNTERSIGN_ADMIN_KEY: ADMIN_KEY,
    ...changes,
  });

describe('in production a key serves one purpose', () => {
  it.each([
    ['the master key', 'COUNTERSIGN_MASTER_KEY', `1:${MASTER}`],
    ['the master key, as an older version', 'COUNTERSIGN_MASTER_KEY', `1:${MASTER},2:${OTHER}`],
    ['the admin key', 'COUNTERSIGN_ADMIN_KEY', `1:${base64(ADMIN_KEY)}`],
    ['the admin key without its prefix', 'COUNTERSIGN_ADMIN_KEY', `1:${base64(SECRET)}`],
    ['the random part of the admin key', 'COUNTERSIGN_ADMIN_KEY', `2:${base64(SECRET.slice(0, 32))}`],
    ['another version', 'the versions 1 and 2', `1:${OTHER},2:${OTHER}`],
  ])('an entropy key is not %s', (_other, named, keys) => {
    const [fault, ...others] = inProduction({ COUNTERSIGN_ENTROPY_KEYS: keys });
    expect(others).toEqual([]);
    expect(fault?.variable).toBe('COUNTERSIGN_ENTROPY_KEYS');
    expect(fault?.fault).toContain(named);
    for (const secret of [MASTER, OTHER, SECRET]) expect(JSON.stringify(fault)).not.toContain(secret);
  });

  it('the master key is not the random part of the admin key', () => {
    const faults = inProduction({ COUNTERSIGN_MASTER_KEY: base64(SECRET.slice(0, 32)) });
    expect(faults).toMatchObject([{ variable: 'COUNTERSIGN_MASTER_KEY' }]);
  });

  it('a master key that is an entropy key can be rotated, with a warning until it is gone', () => {
    const shared = { COUNTERSIGN_ENTROPY_KEYS: `1:${MASTER}`, NODE_ENV: 'production' };
    for (const keys of [`1:${MASTER},2:${OTHER}`, `2:${OTHER},1:${MASTER}`]) {
      expect(inProduction({ ...shared, COUNTERSIGN_MASTER_KEY: keys })).toEqual([]);
      const settings = loadSettings(ControlPlaneSettings, {
        ...CONTROL_PLANE,
        ...shared,
        COUNTERSIGN_MASTER_KEY: keys,
      });
      expect(settings.warnings()).toEqual([expect.stringMatching(/^version 1 of COUNTERSIGN_MASTER_KEY is a key of/)]);
    }
    expect(inProduction({ ...shared, COUNTERSIGN_MASTER_KEY: OTHER })).toEqual([]);
  });

  it.each(['development', 'test'])('%s takes the same key', (NODE_ENV) => {
    const keys = { COUNTERSIGN_MASTER_KEY: MASTER, COUNTERSIGN_ENTROPY_KEYS: `1:${MASTER}` };
    expect(controlPlaneFaults({ NODE_ENV, ...keys })).toEqual([]);
  });
});
