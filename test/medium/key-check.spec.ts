import { AccountDirectory, AccountStore } from '@countersign/accounts/accounts';
import { AdminKeyStore } from '@countersign/accounts/admin-keys';
import { entropyVersionsInUse } from '@countersign/accounts/keys';
import { CarrierStore } from '@countersign/carriers/config';
import { MessageStore } from '@countersign/carriers/inbound';
import { SenderFormatStore } from '@countersign/carriers/senders';
import { checkKeys, KeyCheckError, listNeeds, Resealer } from '@countersign/key-ring';
import { sealedVersion, ServerKeys } from '@countersign/keys';
import { SessionStore } from '@countersign/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY_DEPENDANTS } from '../../apps/control-plane/src/key-rotation/key-dependants.js';
import { readStatus, renderStatus, verdictOf } from '../../apps/control-plane/src/key-rotation/rotation-status.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { asOwner, freshDatabase, type TestDatabase } from '../support/database.js';
import { liveTenant, testTenant } from '../support/tenants.js';

const KEYS = new Map([1, 2, 3].map((version) => [version, Buffer.alloc(32, version)]));
const ringWith = (...keys: readonly (readonly [number, Buffer])[]): ServerKeys => ServerKeys.fromRing(new Map(keys));
const ringOf = (...versions: readonly number[]): ServerKeys =>
  ringWith(...versions.map((version) => [version, KEYS.get(version) ?? Buffer.alloc(0)] as const));
const WRONG = Buffer.alloc(32, 77);
const wrongKey = (version: number): ServerKeys => ringWith([version, WRONG]);
const ENTROPY = new Map([[1, Buffer.alloc(32, 9)]]);

let testDatabase: TestDatabase;
let harness: SessionHarness;
let logLines: string[] = [];

beforeEach(async () => {
  testDatabase = await freshDatabase();
  harness = await openSessionHarness({ testDatabase });
  logLines = [];
});
afterEach(async () => {
  await harness.close();
  await testDatabase.drop();
});

const boot = (
  keys: ServerKeys,
  entropy: ReadonlyMap<number, Buffer> | null = ENTROPY,
  isComplete = true,
): Promise<void> =>
  checkKeys({
    databaseUrl: testDatabase.url,
    keys,
    entropy: entropy === null ? null : { keys: entropy, versionsInUse: entropyVersionsInUse },
    dependants: KEY_DEPENDANTS,
    isComplete,
    log: (facts, message) => void logLines.push(`${message} ${JSON.stringify(facts)}`),
  });

const checks = (): Promise<object[]> => harness.database.query('SELECT * FROM key_checks ORDER BY purpose, version');
const retiredVersions = (): Promise<object[]> =>
  harness.database.query('SELECT version FROM key_checks WHERE retired_at IS NOT NULL');

describe('a refused start of a process', () => {
  const right = Buffer.alloc(32, 1);
  const entropyOf = (...keys: readonly [number, Buffer][]): ReadonlyMap<number, Buffer> => new Map(keys);

  it.each([
    ['the right master key under another number', ringWith([2, right]), ENTROPY],
    ['a wrong version 1 before a new version', ringWith([1, WRONG], [2, right]), ENTROPY],
    ['a wrong version 1 behind a new version', ringWith([2, right], [1, WRONG]), ENTROPY],
    ['a new master version, and a wrong entropy key', ringOf(1, 2), entropyOf([1, Buffer.alloc(32, 8)])],
    ['entropy keys in the wrong order', ringOf(1), entropyOf([1, Buffer.alloc(32, 8)], [2, Buffer.alloc(32, 9)])],
    ['the right entropy key under another number', ringOf(1), entropyOf([2, Buffer.alloc(32, 9)])],
  ])('changes nothing: %s', async (_, keys, entropy) => {
    await boot(ringOf(1));
    const before = await checks();
    await expect(boot(keys, entropy)).rejects.toThrow(KeyCheckError);
    expect(await checks()).toEqual(before);
    await boot(ringOf(1, 2), entropyOf(...ENTROPY, [2, Buffer.alloc(32, 8)]));
  });

  it('changes nothing on a database that no process has used yet', async () => {
    await expect(boot(ringWith([3, right], [1, WRONG]))).rejects.toThrow(KeyCheckError);
    await expect(boot(ringOf(1), entropyOf([2, WRONG]))).rejects.toThrow(KeyCheckError);
    expect(await checks()).toEqual([]);
  });
});

describe('the master key at boot', () => {
  it('is recorded after it has opened a stored value, logged by its fingerprint, and accepted from then on', async () => {
    await boot(ringOf(1));
    expect(logLines).toHaveLength(2);
    expect(logLines[0]).toMatch(/"COUNTERSIGN_MASTER_KEY","version":1,"fingerprint":"[0-9a-f]{8}"/);
    await boot(ringOf(1));
    await boot(ringOf(1), null, false);
    expect(logLines).toHaveLength(2);
    expect(logLines.join()).not.toContain(KEYS.get(1)?.toString('base64'));
  });

  it('is refused and not recorded if it opens no stored value', async () => {
    await expect(boot(wrongKey(1))).rejects.toThrow(KeyCheckError);
    await expect(boot(wrongKey(1))).rejects.toThrow(/version 1 of COUNTERSIGN_MASTER_KEY is not the key/);
    expect(await harness.database.query('SELECT 1 FROM key_checks')).toEqual([]);
    await boot(ringOf(1));
  });

  it('is refused if it differs from the recorded key, with both fingerprints', async () => {
    await boot(ringOf(1));
    await expect(boot(wrongKey(1))).rejects.toThrow(
      /COUNTERSIGN_MASTER_KEY .*fingerprint is [0-9a-f]{8}, the recorded one [0-9a-f]{8}/,
    );
    await boot(ringOf(1, 2));
    const wrong = ServerKeys.fromRing(
      new Map([...KEYS.entries()].map(([v, key]) => [v, v === 2 ? Buffer.alloc(32, 7) : key])),
    );
    await expect(boot(wrong)).rejects.toThrow(/version 2 of COUNTERSIGN_MASTER_KEY/);
  });

  it('may be any key for an empty database; of two concurrent starts with different keys one is refused', async () => {
    await asOwner(testDatabase, 'TRUNCATE accounts, brands, api_keys CASCADE');
    const results = await Promise.allSettled([boot(ringOf(1)), boot(wrongKey(1))]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('may lose a version that no row needs, as after a rollback', async () => {
    await boot(ringOf(1));
    await boot(ringOf(1, 2));
    await boot(ringOf(1));
    expect(await retiredVersions()).toEqual([{ version: 2 }]);
    await boot(ringOf(1, 2));
    expect(await retiredVersions()).toEqual([]);
  });

  it('may not lose a version that rows need; the error names the rows', async () => {
    await boot(ringOf(1));
    await boot(ringOf(1, 2));
    await expect(boot(ringOf(2))).rejects.toThrow(
      /COUNTERSIGN_MASTER_KEY does not list version 1, and accounts.webhook_secret_sealed needs it.*rotate-master-key --status/,
    );
    await harness.accounts.createApiKey(harness.database, { accountId: harness.account.id, kind: 'live', name: 'k' });
    await expect(boot(ringOf(2))).rejects.toThrow('api_keys needs it');
  });

  it('may not have a current version that running processes do not list, and the error shows the order', async () => {
    await boot(ringOf(1));
    const before = await checks();
    await expect(boot(ringOf(2, 1))).rejects.toThrow(
      /COUNTERSIGN_MASTER_KEY lists version 2 first.* "1:<old>,2:<new>", on all processes/,
    );
    await expect(boot(ringOf(2, 1), null, false)).rejects.toThrow(KeyCheckError);
    expect(await checks()).toEqual(before);
    await boot(ringOf(1, 2));
    await boot(ringOf(2, 1));
  });

  it('may list versions in any order for a new database', async () => {
    await boot(ringOf(2, 1));
  });

  it('may not lose a retired version again once a small table has rows of it', async () => {
    await asOwner(testDatabase, 'TRUNCATE accounts, brands, api_keys CASCADE');
    await boot(ringOf(1, 2));
    await boot(ringOf(2, 1));
    await boot(ringOf(2));
    expect(await retiredVersions()).toEqual([{ version: 1 }]);
    // The write of a process that still runs with version 1 as current.
    const { account } = await harness.accounts.createAccount(harness.database, { name: 'late' });
    await expect(boot(ringOf(2))).rejects.toThrow(
      /does not list version 1, and accounts.webhook_secret_sealed needs it/,
    );
    await harness.accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'late' });
    await expect(boot(ringOf(2))).rejects.toThrow('api_keys needs it');
    expect(await retiredVersions()).toEqual([{ version: 1 }]);
    await boot(ringOf(2, 1));
    expect(await retiredVersions()).toEqual([]);
  });

  it('is checked against large tables until it is retired', async () => {
    await boot(ringOf(1, 2));
    const id = harness.clock.newId();
    await harness.database.query(
      `INSERT INTO deliveries (id, account_id, session_id, type, url, status, body_sealed, occurred_at)
       VALUES ($1, $2, $1, 'webhook.test', 'https://a.example', 'succeeded', $3, clock_timestamp())`,
      [id, harness.account.id, ringOf(2).seal('webhook-body', 'body', id)],
    );
    await expect(boot(ringOf(1))).rejects.toThrow('deliveries.body_sealed needs it');
    await harness.database.query('UPDATE key_checks SET retired_at = clock_timestamp() WHERE version = 2');
    await boot(ringOf(1));
  });

  it('is not retired by a process that can read only some of the tables', async () => {
    await boot(ringOf(1, 2));
    await boot(ringOf(1), null, false);
    expect(await harness.database.query('SELECT 1 FROM key_checks WHERE retired_at IS NOT NULL')).toEqual([]);
  });
});

describe('entropy keys at boot', () => {
  it('are refused if the key of a version has changed', async () => {
    await boot(ringOf(1));
    await expect(boot(ringOf(1), new Map([[1, Buffer.alloc(32, 8)]]))).rejects.toThrow(
      /version 1 of COUNTERSIGN_ENTROPY_KEYS is not the key/,
    );
    await boot(ringOf(1), new Map([...ENTROPY, [2, Buffer.alloc(32, 8)]]));
  });

  it('are refused without a version that brands need; other versions may be removed', async () => {
    await boot(ringOf(1), new Map([...ENTROPY, [2, Buffer.alloc(32, 8)]]));
    await boot(ringOf(1));
    await expect(boot(ringOf(1), new Map([[2, Buffer.alloc(32, 8)]]))).rejects.toThrow(
      /COUNTERSIGN_ENTROPY_KEYS does not list version 1, and brands were created with it/,
    );
  });
});

describe('entropy keys of two versions', () => {
  it('are refused if they are equal, in one ring or in successive rings', async () => {
    const key = Buffer.alloc(32, 9);
    await boot(ringOf(1));
    const before = await checks();
    await expect(boot(ringOf(1), new Map([...ENTROPY, [2, key]]))).rejects.toThrow(
      /COUNTERSIGN_ENTROPY_KEYS has the same key for the versions 1 and 2/,
    );
    const other = Buffer.alloc(32, 8);
    await expect(boot(ringOf(1), new Map([...ENTROPY, [2, other], [3, other]]))).rejects.toThrow(
      'the versions 3 and 2',
    );
    expect(await checks()).toEqual(before);
    await asOwner(testDatabase, 'TRUNCATE brands CASCADE');
    await expect(boot(ringOf(1), new Map([[2, key]]))).rejects.toThrow('the versions 1 and 2');
    await boot(ringOf(1), new Map([...ENTROPY, [2, other]]));
  });
});

describe('resealed values', () => {
  async function sealAll(keys: ServerKeys): Promise<number> {
    const onError = (error: unknown): void => expect(error).toBeNull();
    const resealer = new Resealer({ database: harness.database, keys, columns: KEY_DEPENDANTS.columns, onError });
    let renewed = 0;
    for (;;) {
      const step = await resealer.step();
      renewed += step.renewed;
      if (step.isPassOver) return renewed;
    }
  }

  async function fill(): Promise<void> {
    const { database, keys, clock, account, accounts } = harness;
    for (const tenant of [liveTenant(account.id), testTenant(account.id)]) {
      await accounts.rotateWebhookSecret(database, tenant);
    }
    const carriers = new CarrierStore({ keys, newId: () => clock.newId() });
    await carriers.createBind(database, {
      name: 'b',
      carrier: 'c',
      hosts: [{ host: 'h', port: 1 }],
      systemId: 's',
      password: 'secret08',
      clientKey: 'PEM of the key',
      outbind: { systemId: 'smsc', allowedCidrs: ['192.0.2.1/32'] },
      outbindPassword: 'come',
    });
    const messages = Array.from({ length: 1_200 }, () => {
      const id = clock.newId();
      const link = { carrier: 'c', linkId: account.id, source: '1', sourceTon: 1, sourceNpi: 1, destination: '2' };
      const verdict = { fate: 'no_token', sessionId: null, accountId: null } as const;
      return {
        id,
        ...link,
        dataCoding: 0,
        textSealed: keys.seal('message-text', `text of ${id}`, id),
        part: null,
        ...verdict,
      };
    });
    await new MessageStore().insertInbound(database, messages);
    const id = clock.newId();
    await database.query(
      `INSERT INTO deliveries (id, account_id, session_id, type, url, status, body_sealed, occurred_at)
       VALUES ($1, $2, $1, 'webhook.test', 'https://a.example', 'succeeded', $3, clock_timestamp())`,
      [id, account.id, keys.seal('webhook-body', 'body', id)],
    );
  }

  it('need only the new version in every table, and open to the same texts', async () => {
    await fill();
    await boot(ringOf(1, 2));
    const keys = ringOf(2, 1);
    const needsOf = async (version: number) =>
      Object.fromEntries(
        (await listNeeds(harness.database, KEY_DEPENDANTS, version)).map((need) => [need.name, need.rows]),
      );
    expect(await needsOf(1)).toMatchObject({
      'accounts.webhook_secret_sealed': 1,
      'accounts.previous_webhook_secrets_sealed': 1,
      'accounts.test_webhook_secret_sealed': 1,
      'accounts.previous_test_webhook_secrets_sealed': 1,
      'binds.password_sealed': 1,
      'binds.client_key_sealed': 1,
      'binds.outbind_password_sealed': 1,
      'messages.text_sealed': 1_200,
      'deliveries.body_sealed': 1,
    });
    const webhooks = async (ring: ServerKeys) => {
      const directory = new AccountDirectory(harness.database, ring);
      return Promise.all(
        [liveTenant, testTenant].map((tenant) => directory.webhookSecrets(tenant(harness.account.id))),
      );
    };
    const before = await webhooks(harness.keys);
    expect(await sealAll(keys)).toBe(1_208);
    expect(await sealAll(keys)).toBe(0);
    expect(Object.values(await needsOf(1)).every((rows) => rows === 0)).toBe(true);
    expect(await webhooks(ringOf(2))).toEqual(before);
    const rows = await harness.database.query<{ id: string; sealed: Buffer }>(
      'SELECT id, text_sealed AS sealed FROM messages',
    );
    for (const { id, sealed } of rows) {
      expect(sealedVersion(sealed)).toBe(2);
      expect(ringOf(2).open('message-text', sealed, id).toString()).toBe(`text of ${id}`);
    }
    await boot(ringOf(2));
  });

  it('can be resealed by two processes concurrently, and with the previous version again', async () => {
    await fill();
    await Promise.all([sealAll(ringOf(2, 1)), sealAll(ringOf(2, 1)), sealAll(ringOf(1, 2))]);
    await sealAll(ringOf(1, 2));
    await boot(ringOf(1));
    const rows = await harness.database.query<{ id: string; sealed: Buffer }>(
      'SELECT id, text_sealed AS sealed FROM messages',
    );
    for (const { id, sealed } of rows) {
      expect(ringOf(1).open('message-text', sealed, id).toString()).toBe(`text of ${id}`);
    }
  });

  it('skip a value that does not open', async () => {
    await fill();
    const [row] = await harness.database.query<{ id: string }>(
      `UPDATE messages SET text_sealed = set_byte(text_sealed, 20, get_byte(text_sealed, 20) # 1)
       WHERE id = (SELECT id FROM messages ORDER BY id LIMIT 1) RETURNING id`,
    );
    const failed: string[] = [];
    const columns = KEY_DEPENDANTS.columns;
    const onError = (_: unknown, column: string): void => void failed.push(column);
    const resealer = new Resealer({ database: harness.database, keys: ringOf(2, 1), columns, onError });
    while (!(await resealer.step()).isPassOver);
    expect(row).toBeDefined();
    expect(failed).toEqual(['messages.text_sealed']);
    const needs = await listNeeds(harness.database, KEY_DEPENDANTS, 1);
    expect(needs.find(({ name }) => name === 'messages.text_sealed')?.rows).toBe(1);
  });
});

describe('the rotation status', () => {
  it('counts rows of recorded versions, including unlisted ones, and writes nothing', async () => {
    await boot(ringOf(1, 2));
    await boot(ringOf(1, 2, 3));
    await harness.database.query('UPDATE key_checks SET retired_at = clock_timestamp() WHERE version IN (1, 3)');
    const before = await checks();
    const text = renderStatus(await readStatus(harness.database, ringOf(2)));
    expect(text).toMatch(
      /Version 1 \(not listed\)[^]*accounts.webhook_secret_sealed +1 [^]*Version 1 must be listed again/,
    );
    expect(text).toContain('Version 3 need not be listed.');
    const { versions } = await readStatus(harness.database, ringOf(3, 1));
    expect(versions.map(({ version, isListed }) => [version, isListed])).toEqual([
      [1, true],
      [2, false],
    ]);
    await expect(readStatus(harness.database, wrongKey(1))).rejects.toThrow(KeyCheckError);
    expect(await checks()).toEqual(before);
  });

  it('lists keys that only their use renews, live sessions, and the end of short-lived values', async () => {
    const { database, clock } = harness;
    const keys = ringOf(1);
    const accounts = new AccountStore({ keys, newId: () => clock.newId() });
    await accounts.createApiKey(database, { accountId: harness.account.id, kind: 'live', name: 'k' });
    const store = { database, clock, keys, listener: { onEvents: () => undefined } };
    const session = await new SessionStore(store).create(harness.draft());
    const newId = (): string => clock.newId();
    await new AdminKeyStore({ keys, newId }).create(database, { name: 'a', role: 'viewer' });
    const { id: linkId } = await new CarrierStore({ keys, newId }).createSystem(database, {
      systemId: 's',
      carrier: 'c',
      password: 'secret08',
    });
    const senders = new SenderFormatStore(keys);
    const seen = [{ digests: senders.digestsOf(linkId, '+14155552671'), shows: 'national' as const }];
    await senders.addSenders(database, { linkId, epoch: 0, senders: seen });
    await database.query(`INSERT INTO otp_phones (account_id, phone, credited_on) VALUES ($1, '\\x01', '2026-03-02')`, [
      harness.account.id,
    ]);
    const needs = await listNeeds(database, KEY_DEPENDANTS, 1);
    const of = (name: string) => needs.find((need) => need.name.startsWith(name));
    expect(of('api_keys')).toMatchObject({ rows: 1, isNeeded: true, endsAt: null });
    expect(of('admin_keys')).toMatchObject({ rows: 1, isNeeded: true, endsAt: null });
    expect(of('sender_formats')).toMatchObject({ rows: 1, isNeeded: false, endsAt: null });
    // 30 whole days after the day of the approval.
    expect(of('otp_phones')).toMatchObject({ rows: 1, isNeeded: false, endsAt: new Date('2026-04-02T00:00:00.000Z') });
    expect(of('sessions (pending)')).toMatchObject({ rows: 1, isNeeded: true });
    expect(of('sessions (codes')).toMatchObject({
      rows: 1,
      isNeeded: false,
      endsAt: new Date(session.createdAt.getTime() + (86_400 + 300) * 1000),
    });
    expect(verdictOf(1, needs)).toBe('Version 1 must stay.');
    const shortLived = needs.filter(({ isNeeded }) => !isNeeded);
    expect(verdictOf(1, shortLived)).toMatch(/^Version 1 can be removed after \d{4}-/);
    expect(verdictOf(1, [])).toBe('Version 1 can be removed.');
    expect(
      verdictOf(
        1,
        needs.filter(({ name }) => name === 'sender_formats'),
      ),
    ).toBe('Version 1 can be removed.');
  });
});
