import { CarrierStore } from '@countersign/carriers/config';
import { MessageStore } from '@countersign/carriers/inbound';
import { checkKeys, recordRotationEnd, Resealer } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { Database, DataError } from '@countersign/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KEY_DEPENDANTS } from '../../apps/control-plane/src/key-rotation/key-dependants.js';
import { KeyRotationWorker } from '../../apps/control-plane/src/key-rotation/key-rotation.worker.js';
import { readStatus, renderStatus } from '../../apps/control-plane/src/key-rotation/rotation-status.js';
import { asOwner, freshDatabase, type TestDatabase } from '../support/database.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';

// An attacker with a gateway's database connection wants the old master key to stay needed.

const WITHIN_MS = 20_000;
const INSUFFICIENT_PRIVILEGE = '42501';
const ringOf = (...versions: readonly number[]): ServerKeys =>
  ServerKeys.fromRing(new Map(versions.map((version) => [version, Buffer.alloc(32, version)])));
/** Names version 1, and opens with no key. */
const JUNK = Buffer.alloc(60, 1);

let testDatabase: TestDatabase;
let harness: SessionHarness;
let stolen: Database;
let warnings: string[];

beforeEach(async () => {
  testDatabase = await freshDatabase();
  harness = await openSessionHarness({ testDatabase });
  const url = testDatabase.gatewayUrl;
  stolen = await Database.open({ url, poolMax: 1, applicationName: 'attack', onError: () => undefined });
  warnings = [];
  for (const keys of [ringOf(1), ringOf(1, 2), ringOf(2, 1)]) await boot(keys);
});
afterEach(async () => {
  await stolen.close();
  await harness.close();
  await testDatabase.drop();
});

const boot = (keys: ServerKeys): Promise<void> =>
  checkKeys({
    databaseUrl: testDatabase.url,
    keys,
    entropy: null,
    dependants: KEY_DEPENDANTS,
    isComplete: true,
    log: (facts, message, level) => {
      if (level === 'warn') warnings.push(`${message} ${JSON.stringify(facts)}`);
    },
  });

async function addMessage(textSealed: (id: string) => Buffer): Promise<void> {
  const id = harness.clock.newId();
  const link = { carrier: 'c', linkId: harness.account.id, source: '1', sourceTon: 1, sourceNpi: 1, destination: '2' };
  const fate = { fate: 'no_token', sessionId: null, accountId: null } as const;
  await new MessageStore().insertInbound(stolen, [
    { id, ...link, dataCoding: 0, textSealed: textSealed(id), part: null, ...fate },
  ]);
}

/** Versions of the values that opened. */
async function resealAll(): Promise<ReadonlySet<number>> {
  const options = { database: harness.database, keys: ringOf(2, 1), columns: KEY_DEPENDANTS.columns };
  const resealer = new Resealer({ ...options, onError: () => undefined });
  for (;;) {
    const { isPassOver, opened } = await resealer.step();
    if (isPassOver) return opened;
  }
}

const recordEnd = (opened: ReadonlySet<number>): Promise<readonly number[]> =>
  recordRotationEnd(harness.database, { keys: ringOf(2, 1), dependants: KEY_DEPENDANTS, opened });
const isRetired = async (): Promise<boolean> =>
  (await harness.database.query('SELECT 1 FROM key_checks WHERE version = 1 AND retired_at IS NOT NULL')).length > 0;
const status = async (): Promise<string> => renderStatus(await readStatus(harness.database, ringOf(2, 1)));

async function addSystem(): Promise<void> {
  const carriers = new CarrierStore({ keys: ringOf(2), newId: () => harness.clock.newId() });
  await carriers.createSystem(harness.database, { systemId: 's', carrier: 'c', password: 'secret08' });
}
const NAME_OLD_VERSION = 'UPDATE smpp_systems SET digest_version = 1';

describe('the end of a rotation', () => {
  it('A37 is not held up by values that name the old key and do not open with it, which are reported', async () => {
    await resealAll();
    await addMessage(() => JUNK);
    await expect(boot(ringOf(2))).rejects.toThrow('messages.text_sealed needs it');
    expect(await status()).toMatch(/messages.text_sealed +0 +and 1 that do not open with it[^]*before you remove it/i);
    const [reported, counted]: [unknown[], number[]] = [[], []];
    const metrics = { countRenewedValues: () => undefined, countUnopenedValue: () => void counted.push(1) };
    const failures = { about: () => (error: unknown) => void reported.push(error) };
    const worker = new KeyRotationWorker(harness.database, ringOf(2, 1), harness.clock, metrics, failures);
    worker.start();
    await until('the end of the rotation is recorded', WITHIN_MS, isRetired);
    await worker.stop();
    expect(String(reported)).toBe(
      'Error: 1 values of messages.text_sealed do not open with the version that they name, or it is not listed',
    );
    expect(counted).toEqual([1]);
    expect(await status()).not.toMatch(/before you remove it/i);
    await boot(ringOf(2));
  });

  it('A37 is not recorded while values open with the old key: a start without it is refused', async () => {
    await resealAll();
    await addMessage((id) => ringOf(1).seal('message-text', 'text', id));
    await addMessage(() => JUNK);
    expect(await status()).toContain('Version 1 must stay.');
    const opened = await resealAll();
    expect([...opened]).toEqual([1]);
    expect(await recordEnd(opened)).toEqual([]);
    await expect(boot(ringOf(2))).rejects.toThrow('messages.text_sealed needs it');
    expect(await recordEnd(await resealAll())).toEqual([1]);
    await boot(ringOf(2));
  });

  it('A37 is not recorded while a system needs the old key; once it is, such a row is a warning', async () => {
    await resealAll();
    await addSystem();
    await stolen.query(NAME_OLD_VERSION);
    expect(await recordEnd(await resealAll())).toEqual([]);
    await expect(boot(ringOf(2))).rejects.toThrow('smpp_systems needs it');
    await harness.database.query('UPDATE smpp_systems SET digest_version = 2');
    expect(await recordEnd(await resealAll())).toEqual([1]);
    await stolen.query(NAME_OLD_VERSION);
    await boot(ringOf(2));
    expect(warnings).toEqual([
      'key check: rows name a retired version of the master key {"version":1,"table":"smpp_systems"}',
    ]);
  });

  it('A37 still refuses a start without a key that rows of control planes alone need', async () => {
    await asOwner(testDatabase, 'TRUNCATE accounts, brands, api_keys CASCADE');
    expect(await recordEnd(await resealAll())).toEqual([1]);
    await harness.accounts.createAccount(harness.database, { name: 'late' });
    await expect(boot(ringOf(2))).rejects.toThrow('accounts.webhook_secret_sealed needs it');
  });

  it('A37 is recorded by control planes alone', async () => {
    const revive = 'UPDATE key_checks SET retired_at = NULL';
    const refused = await stolen.query(revive).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DataError);
    expect(refused).toMatchObject({ sqlState: INSUFFICIENT_PRIVILEGE });
    await harness.database.query(`EXPLAIN ${revive}`);
  });
});
