import { AccountDirectory } from '@countersign/accounts/accounts';
import { sealedVersion, ServerKeys } from '@countersign/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KeyRotationWorker } from '../../apps/control-plane/src/key-rotation/key-rotation.worker.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';
import { until } from '../support/until.js';

const WITHIN_MS = 20_000;
const [ONE, TWO] = [1, 2].map((version): [number, Buffer] => [version, Buffer.alloc(32, version)]);
const ringOf = (...keys: readonly ([number, Buffer] | undefined)[]): ServerKeys =>
  ServerKeys.fromRing(new Map(keys.flatMap((key) => (key === undefined ? [] : [key]))));

let harness: SessionHarness;
const errors: unknown[] = [];

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(async () => {
  await harness.close();
  expect(errors).toEqual([]);
});

function workerOf(keys: ServerKeys, renewed: number[]): KeyRotationWorker {
  const { database, clock } = harness;
  const onError = (error: unknown): void => void errors.push(error);
  const metrics = {
    countRenewedValues: (count: number) => void renewed.push(count),
    countUnopenedValue: () => undefined,
  };
  const worker = new KeyRotationWorker(database, keys, clock, metrics, { about: () => onError });
  worker.start();
  return worker;
}

async function versions(): Promise<(number | null)[]> {
  const rows = await harness.database.query<{ live: Buffer; test: Buffer | null }>(
    'SELECT webhook_secret_sealed AS live, test_webhook_secret_sealed AS test FROM accounts',
  );
  return rows.flatMap(({ live, test }) => [sealedVersion(live), test === null ? null : sealedVersion(test)]);
}

it('reseals nothing while one version is listed', async () => {
  const renewed: number[] = [];
  await workerOf(ringOf(ONE), renewed).stop();
  expect(renewed).toEqual([]);
  expect(await versions()).toEqual([1, 1]);
});

it('reseals every value once in the background when several processes run', async () => {
  const before = await new AccountDirectory(harness.database, harness.keys).webhookSecrets(
    liveTenant(harness.account.id),
  );
  const renewed: number[] = [];
  const workers = [1, 2, 3].map(() => workerOf(ringOf(TWO, ONE), renewed));
  await until('all secrets are of version 2', WITHIN_MS, async () => (await versions()).every((each) => each === 2));
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(renewed.reduce((sum, each) => sum + each, 0)).toBe(2);
  const after = new AccountDirectory(harness.database, ringOf(TWO));
  expect(await after.webhookSecrets(liveTenant(harness.account.id))).toEqual(before);
  expect(await harness.database.query(`SELECT 1 FROM row_leases WHERE name = 'key-rotation'`)).toEqual([]);
});
