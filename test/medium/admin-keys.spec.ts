import { AdminKeyDirectory, AdminKeyStore } from '@countersign/accounts/admin-keys';
import { KeyUse } from '@countersign/accounts/keys';
import { ADMIN_KEYS } from '@countersign/accounts/records';
import { createApiKey } from '@countersign/keys';
import { DataError, DatabaseUnavailable, type Executor } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';

const ROOT_KEY = createApiKey('admin');

let harness: SessionHarness;
let store: AdminKeyStore;
let asked = 0;
let directory: AdminKeyDirectory;

beforeAll(async () => {
  harness = await openSessionHarness();
  store = new AdminKeyStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const database: Executor = {
    query: <Row extends object>(text: string, values?: readonly unknown[]) => {
      asked++;
      return harness.database.query<Row>(text, values);
    },
  };
  directory = new AdminKeyDirectory(database, harness.keys, { adminKey: ROOT_KEY });
});
afterAll(() => harness.close());

describe('an admin key', () => {
  it('works at once, and is read once in 3 s', async () => {
    const { key, id } = await store.create(harness.database, { name: 'read once', role: 'support' });
    asked = 0;
    for (let n = 0; n < 5; n++) {
      expect(await directory.authenticate(key)).toEqual({
        kind: 'admin',
        keyId: id,
        name: 'read once',
        role: 'support',
      });
    }
    expect(asked).toBe(1);
  });

  it('that is mistyped, or of another kind, never reaches the database', async () => {
    const { key } = await store.create(harness.database, { name: 'mistyped', role: 'viewer' });
    asked = 0;
    const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
    for (const text of [mistyped, '', 'csk_admin_', createApiKey('live')]) {
      expect(await directory.authenticate(text)).toBeNull();
    }
    expect(asked).toBe(0);
  });

  it('that is unknown shares a statement with others, however many come at once', async () => {
    const { key, id } = await store.create(harness.database, { name: 'in a flood', role: 'viewer' });
    asked = 0;
    const flood = Array.from({ length: 1_000 }, () => directory.authenticate(createApiKey('admin')));
    expect((await directory.authenticate(key))?.keyId).toBe(id);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([null]));
    expect(asked).toBeLessThanOrEqual(20);
  });

  it('of the environment is an owner named root, without the database', async () => {
    const away: Executor = { query: () => Promise.reject(new DatabaseUnavailable('gone')) };
    const alone = new AdminKeyDirectory(away, harness.keys, { adminKey: ROOT_KEY });
    expect(await alone.authenticate(ROOT_KEY)).toEqual({ kind: 'admin', keyId: null, name: 'root', role: 'owner' });
    await expect(alone.authenticate(createApiKey('admin'))).rejects.toThrow(DatabaseUnavailable);
  });

  it('is live with its digest until it is revoked', async () => {
    const { id } = await store.create(harness.database, { name: 'watched', role: 'viewer' });
    const before = (await directory.liveKeys([id])).get(id);
    const { key, ...row } = await store.rotate(harness.database, await found(id));
    expect(await directory.authenticate(key)).toMatchObject({ keyId: id });
    const after = (await directory.liveKeys([id])).get(id);
    expect([typeof before?.digest, after?.digest === before?.digest]).toEqual(['string', false]);
    expect((await store.revoke(harness.database, row.id))?.revokedAt).toBeInstanceOf(Date);
    expect(await store.revoke(harness.database, row.id)).toBeNull();
    expect(await directory.liveKeys([id])).toEqual(new Map());
  });

  it('shares its name with no other that works, and is never named root', async () => {
    const make = (name: string) => store.create(harness.database, { name, role: 'viewer' });
    const refused = async (name: string) => make(name).catch((error: unknown) => error);
    const { id } = await make('Alone');
    const races = await Promise.all([refused('race'), refused('RACE'), refused('Race')]);
    expect(races.filter((outcome) => outcome instanceof DataError)).toHaveLength(2);
    expect(await refused('alone')).toMatchObject({ constraint: 'admin_keys_name_key' });
    expect(await refused('Root')).toBeInstanceOf(DataError);
    await store.revoke(harness.database, id);
    expect(await refused('alone')).toMatchObject({ name: 'alone' });
  });

  it('is marked as used in its own table', async () => {
    const { id } = await store.create(harness.database, { name: 'used', role: 'viewer' });
    const onError = (error: unknown): never => {
      throw new Error('nothing should fail', { cause: error });
    };
    const use = new KeyUse({ database: harness.database, onError, table: 'admin_keys', flushEveryMs: 3_600_000 });
    use.recordUse(id);
    await use.stop();
    expect((await found(id)).lastUsedAt).toBeInstanceOf(Date);
  });
});

async function found(id: string) {
  const row = await ADMIN_KEYS.find(harness.database, id);
  if (row === null) throw new Error('the key is not there');
  return row;
}
