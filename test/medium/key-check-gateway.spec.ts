import { checkKeys } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY_DEPENDANTS } from '../../apps/control-plane/src/key-rotation/key-dependants.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const ringOf = (...versions: readonly number[]): ServerKeys =>
  ServerKeys.fromRing(new Map(versions.map((version) => [version, Buffer.alloc(32, version)])));
const WRONG = ServerKeys.fromRing(new Map([[1, Buffer.alloc(32, 77)]]));

let testDatabase: TestDatabase;
let harness: SessionHarness;

beforeEach(async () => {
  testDatabase = await freshDatabase();
  harness = await openSessionHarness({ testDatabase });
});
afterEach(async () => {
  await harness.close();
  await testDatabase.drop();
});

const bootAt = (databaseUrl: string, keys: ServerKeys, isComplete: boolean): Promise<void> =>
  checkKeys({ databaseUrl, keys, entropy: null, dependants: KEY_DEPENDANTS, isComplete, log: () => undefined });
const bootGateway = (keys: ServerKeys, isComplete = false): Promise<void> =>
  bootAt(testDatabase.gatewayUrl, keys, isComplete);
const retiredVersions = (): Promise<object[]> =>
  harness.database.query('SELECT version FROM key_checks WHERE retired_at IS NOT NULL');

describe('the start of a gateway, whose database role cannot read webhook secrets', () => {
  it('is refused with a wrong key, and without a version that rows of its tables need', async () => {
    await bootAt(testDatabase.url, ringOf(1), true);
    await bootAt(testDatabase.url, ringOf(1, 2), true);
    await expect(bootGateway(WRONG)).rejects.toThrow('version 1 of COUNTERSIGN_MASTER_KEY is not the key');
    await bootGateway(ringOf(1, 2));
    await harness.accounts.createApiKey(harness.database, { accountId: harness.account.id, kind: 'live', name: 'k' });
    await expect(bootGateway(ringOf(2))).rejects.toThrow('api_keys needs it');
  });

  it('passes on a database that no control plane has used, and records no key there', async () => {
    await bootGateway(ringOf(1));
    expect(await harness.database.query('SELECT version FROM key_checks')).toEqual([]);
    await bootAt(testDatabase.url, ringOf(1), true);
    await expect(bootGateway(WRONG)).rejects.toThrow('version 1 of COUNTERSIGN_MASTER_KEY is not the key');
  });

  it('does not retire a version that webhook secrets may need', async () => {
    await bootAt(testDatabase.url, ringOf(1), true);
    await bootAt(testDatabase.url, ringOf(1, 2), true);
    await bootGateway(ringOf(2), true);
    expect(await retiredVersions()).toEqual([]);
  });
});
