import { describe, expect, it } from 'vitest';
import { faultsOf } from './environment.fixture.js';
import { loadSettings, MigrationSettings, SettingsError } from './index.js';

const OWNER = 'postgres://own%40er:hunter2@db/countersign';
const APP = 'postgres://app@db/countersign';

const load = (environment: Record<string, string>) => loadSettings(MigrationSettings, environment);

describe('settings of the migration', () => {
  it('are the URL of the owner, and the name of the role of the daemons', () => {
    expect(load({ DATABASE_MIGRATION_URL: OWNER, DATABASE_URL: APP })).toMatchObject({
      ownerUrl: OWNER,
      daemonRole: 'app',
    });
  });

  it.each([
    [{ DATABASE_URL: OWNER }],
    [{ DATABASE_MIGRATION_URL: OWNER }],
    [{ DATABASE_MIGRATION_URL: OWNER, DATABASE_URL: OWNER.replace('hunter2', 'other') }],
    [{ DATABASE_MIGRATION_URL: OWNER, DATABASE_URL: 'postgres://db/countersign' }],
  ])('name no second role in %o', (environment: Record<string, string>) => {
    expect(load(environment)).toMatchObject({ ownerUrl: OWNER, daemonRole: null });
  });

  it('are the name of a role of gateways, where they have one of their own', () => {
    const roles = { DATABASE_MIGRATION_URL: OWNER, DATABASE_URL: APP };
    expect(load(roles)).toMatchObject({ gatewayRole: null });
    expect(load({ ...roles, DATABASE_GATEWAY_ROLE: 'gate' })).toMatchObject({ daemonRole: 'app', gatewayRole: 'gate' });
    for (const DATABASE_GATEWAY_ROLE of ['', 'app', 'own@er']) {
      expect(load({ ...roles, DATABASE_GATEWAY_ROLE })).toMatchObject({ daemonRole: 'app', gatewayRole: null });
    }
    expect(load({ DATABASE_URL: OWNER, DATABASE_GATEWAY_ROLE: 'gate' })).toMatchObject({ gatewayRole: 'gate' });
    const faults = faultsOf(() => load({ ...roles, DATABASE_GATEWAY_ROLE: 'g'.repeat(64) }));
    expect(faults).toMatchObject([{ variable: 'DATABASE_GATEWAY_ROLE' }]);
  });

  it('must name a database, and never show a password', () => {
    expect(faultsOf(() => load({}))).toMatchObject([{ variable: 'DATABASE_MIGRATION_URL', fault: 'is not set' }]);
    const faults = faultsOf(() => load({ DATABASE_MIGRATION_URL: 'mysql://root:hunter2@db' }));
    expect(faults).toMatchObject([{ variable: 'DATABASE_MIGRATION_URL' }]);
    expect(new SettingsError(faults).message).not.toContain('hunter2');
  });
});
