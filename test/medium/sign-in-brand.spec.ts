import { SignInBrandStore } from '@countersign/accounts/console-sessions';
import { SIGN_IN_ACCOUNT_ID, SIGN_IN_BRAND_ID } from '@countersign/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ENTROPY_KEYS, openSessionHarness, type SessionHarness } from '../support/session-harness.js';

let harness: SessionHarness;
let store: SignInBrandStore;

beforeAll(async () => {
  harness = await openSessionHarness();
  store = new SignInBrandStore(harness.keys, { entropyKeys: ENTROPY_KEYS });
});
afterAll(() => harness.close());

it('the brand of sign-ins is made once by first uses at the same moment', async () => {
  const { database } = harness;
  const uses = Array.from({ length: 6 }, () => database.transaction((tx) => store.ensure(tx)));
  const brands = await Promise.all(uses);
  expect(new Set(brands.map(({ id, slug }) => `${id} ${slug}`))).toEqual(new Set([`${SIGN_IN_BRAND_ID} CONSOLE`]));
  expect(await database.query('SELECT FROM accounts WHERE id = $1', [SIGN_IN_ACCOUNT_ID])).toHaveLength(1);
});

it('the brand of sign-ins is read without a lock that another client of the database could hold', async () => {
  const locks = await harness.database.transaction(async (tx) => {
    await store.ensure(tx);
    return tx.query(
      `SELECT locktype, mode FROM pg_locks
       WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR mode NOT IN ('AccessShareLock', 'ExclusiveLock'))`,
    );
  });
  expect(locks).toEqual([]);
});
