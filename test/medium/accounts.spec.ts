import { AccountDirectory, BrandRefused, checkBrand, DEFAULT_SCOPES } from '@countersign/accounts/accounts';
import { SealError, createApiKey } from '@countersign/keys';
import { DataError, DatabaseUnavailable, type Executor } from '@countersign/postgres';
import { otpText } from '@countersign/session/rules';
import { fallbackText, TOKEN_LENGTH } from '@countersign/session/tokens';
import { gsmSeptets } from '@countersign/text';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant, testTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());

/** Counts the statements that reach the database. */
function counting(): { db: Executor; count: () => number } {
  let statements = 0;
  const db: Executor = {
    query: <Row extends object>(text: string, values?: readonly unknown[]) => {
      statements += 1;
      return harness.database.query<Row>(text, values);
    },
  };
  return { db, count: () => statements };
}

const newKey = (kind: 'live' | 'test' = 'live'): Promise<{ id: string; key: string; prefix: string }> =>
  harness.accounts.createApiKey(harness.database, { accountId: harness.account.id, kind, name: 'main' });

describe('API keys', () => {
  it('speak for their account with every scope but that of the account itself, and are known by a prefix', async () => {
    const { db, count } = counting();
    const directory = new AccountDirectory(db, harness.keys);
    const { id, key, prefix } = await newKey('test');
    const asked = await Promise.all(Array.from({ length: 50 }, () => directory.authenticate(key)));
    expect(new Set(asked.map((principal) => JSON.stringify(principal))).size).toBe(1);
    expect(asked[0]).toEqual({
      ...{ keyId: id, kind: 'test', tenant: testTenant(harness.account.id), scopes: DEFAULT_SCOPES, limits: {} },
    });
    expect(count()).toBe(1);
    expect(key.startsWith(prefix)).toBe(true);
  });

  it('never reach the database with a wrong checksum, or when they are an admin key', async () => {
    const { db, count } = counting();
    const directory = new AccountDirectory(db, harness.keys);
    const { key } = await newKey();
    const last = key.endsWith('0') ? '1' : '0';
    for (const text of [key.slice(0, -1) + last, '', 'csk_live_', createApiKey('admin'), `${key} `]) {
      expect(await directory.authenticate(text)).toBeNull();
    }
    expect(count()).toBe(0);
  });

  it('work at once, though they were asked for in vain before', async () => {
    const directory = new AccountDirectory(harness.database, harness.keys);
    const unknown = createApiKey('live');
    expect(await directory.authenticate(unknown)).toBeNull();
    await harness.database.query(
      `INSERT INTO api_keys (id, account_id, kind, name, scopes, prefix, digest) VALUES ($1, $2, 'live', 'late', '{verify}', 'csk', $3)`,
      [harness.clock.newId(), harness.account.id, harness.keys.digest('api-key', unknown)],
    );
    expect(await directory.authenticate(unknown)).toMatchObject({ scopes: ['verify'] });
  });

  it('that are unknown share statements, however many come at once, and a valid one among them is found', async () => {
    const { db, count } = counting();
    const directory = new AccountDirectory(db, harness.keys);
    const { id, key } = await newKey();
    const flood = Array.from({ length: 2_000 }, () => directory.authenticate(createApiKey('live')));
    const valid = directory.authenticate(key);
    flood.push(...Array.from({ length: 2_000 }, () => directory.authenticate(createApiKey('test'))));
    expect((await valid)?.keyId).toBe(id);
    expect(new Set(await Promise.all(flood))).toEqual(new Set([null]));
    expect(count()).toBeLessThanOrEqual(60);
  });

  it('end when they are revoked, or when their account is no longer active', async () => {
    const { id, key, prefix } = await newKey();
    const other = await harness.accounts.createAccount(harness.database, { name: 'closing' });
    const closing = await harness.accounts.createApiKey(harness.database, {
      accountId: other.account.id,
      kind: 'live',
      name: 'k',
    });
    expect(await new AccountDirectory(harness.database, harness.keys).authenticate(key)).not.toBeNull();
    expect(await harness.accounts.revokeApiKey(harness.database, id)).toMatchObject({ id, prefix });
    expect(await harness.accounts.revokeApiKey(harness.database, id)).toBeNull();
    await harness.database.query('UPDATE accounts SET active = false WHERE id = $1', [other.account.id]);
    const later = new AccountDirectory(harness.database, harness.keys);
    expect(await later.authenticate(key)).toBeNull();
    expect(await later.authenticate(closing.key)).toBeNull();
  });

  it('are not refused, but unavailable, when the database is away', async () => {
    const away: Executor = { query: () => Promise.reject(new DatabaseUnavailable('away')) };
    const { key } = await newKey();
    await expect(new AccountDirectory(away, harness.keys).authenticate(key)).rejects.toThrow(DatabaseUnavailable);
  });
});

describe('accounts and brands', () => {
  it('are found by id, and null when there is none', async () => {
    const directory = new AccountDirectory(harness.database, harness.keys);
    expect(await directory.account(harness.account.id)).toEqual(harness.account);
    expect(await directory.brand(harness.brand.id)).toEqual(harness.brand);
    expect(await directory.account(harness.brand.id)).toBeNull();
    expect(await directory.brand(harness.account.id)).toBeNull();
    expect(harness.account).toMatchObject({ name: 'Acme', webhookEvents: [], active: true });
    expect(harness.brand).toMatchObject({ slug: 'ACME', entropyKeyVersion: 1, active: true });
  });

  it('have a webhook secret that opens for its account alone', async () => {
    const directory = new AccountDirectory(harness.database, harness.keys);
    expect(await directory.webhookSecrets(liveTenant(harness.account.id))).toEqual([harness.webhookSecret]);
    expect(harness.webhookSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await expect(directory.webhookSecrets(liveTenant(harness.brand.id))).rejects.toThrow('unknown account');
  });

  it('have a separate test webhook secret, which cannot be unsealed as the live one', async () => {
    const { database, keys } = harness;
    const created = await harness.accounts.createAccount(database, { name: 'Two secrets' });
    const tenant = testTenant(created.account.id);
    expect(await new AccountDirectory(database, keys).webhookSecrets(tenant)).toEqual([created.testWebhookSecret]);
    expect(created.testWebhookSecret).not.toBe(created.webhookSecret);
    await database.query(
      `UPDATE accounts SET webhook_secret_sealed = test_webhook_secret_sealed,
         test_webhook_secret_sealed = webhook_secret_sealed WHERE id = $1`,
      [created.account.id],
    );
    for (const each of [tenant, liveTenant(created.account.id)]) {
      await expect(new AccountDirectory(database, keys).webhookSecrets(each)).rejects.toThrow(SealError);
    }
  });

  it('without a test secret get one at first use, the same for concurrent callers', async () => {
    const { database, keys } = harness;
    const { account, webhookSecret } = await harness.accounts.createAccount(database, { name: 'Older' });
    await database.query('UPDATE accounts SET test_webhook_secret_sealed = NULL WHERE id = $1', [account.id]);
    const asked = Array.from({ length: 4 }, () => new AccountDirectory(database, keys));
    const secrets = await Promise.all(asked.map((each) => each.webhookSecrets(testTenant(account.id))));
    expect(new Set(secrets.flat()).size).toBe(1);
    expect(secrets.flat()).not.toContain(webhookSecret);
    await database.query('UPDATE accounts SET test_webhook_secret_sealed = NULL WHERE id = $1', [account.id]);
    const rotation = await database.transaction((tx) =>
      harness.accounts.rotateWebhookSecret(tx, testTenant(account.id)),
    );
    expect(rotation.ok).toBe(true);
    const after = await new AccountDirectory(database, keys).webhookSecrets(testTenant(account.id));
    expect(after).toHaveLength(2);
    expect(after[0]).toBe(rotation.ok ? rotation.secret : undefined);
  });

  it('are refused with a text that does not fit, and a slug that is taken', async () => {
    const draft = { accountId: harness.account.id, name: 'B', slug: 'BETA', instruction: 'x', entropyKeyVersion: 1 };
    const refused = harness.accounts.createBrand(harness.database, { ...draft, instruction: 'x'.repeat(160) });
    await expect(refused).rejects.toThrow(BrandRefused);
    await expect(refused).rejects.toMatchObject({ field: 'instruction' });
    const taken = harness.accounts.createBrand(harness.database, { ...draft, slug: 'ACME' });
    await expect(taken).rejects.toThrow(DataError);
    await expect(taken).rejects.toMatchObject({ sqlState: '23505' });
  });

  it('are measured by the very text that sessions will carry', () => {
    for (const slug of ['AB', 'ABCDEFGHIJKL']) {
      const instruction = '€'.repeat(20);
      const text = fallbackText(slug, '0'.repeat(TOKEN_LENGTH), instruction);
      const check = checkBrand({ name: 'Acme', slug, instruction, domain: null });
      expect(check).toEqual({ ok: true, septets: gsmSeptets(text) });
    }
  });

  it('are measured by the very text that brings a code', () => {
    for (const domain of [null, 'login.acme.example']) {
      const left = 160 - (gsmSeptets(otpText('', domain, '123456')) ?? 0);
      const check = (name: string) => checkBrand({ name, slug: 'ACME', instruction: 'Send this.', domain });
      expect(check('x'.repeat(left)).ok).toBe(true);
      expect(check('x'.repeat(left + 1)).ok).toBe(false);
    }
  });
});
