import { AccountStore, type Scope } from '@countersign/accounts/accounts';
import { PriceStore } from '@countersign/accounts/prices';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { storePast, storePrice, storeSubmittedCode, type PastSession } from '../support/past-sessions.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let harness: ControlPlaneHarness;
let accounts: AccountStore;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open({ RETENTION_DAYS: '4' });
  accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  await harness.database.query('DELETE FROM prices');
  await harness.database.query('DELETE FROM price_spans');
});
afterAll(() => harness.close());

interface Tenant {
  readonly accountId: Uuid;
  readonly brandId: Uuid;
  readonly key: string;
  readonly testKey: string;
  /** The names in the bodies of creates. */
  readonly body: Readonly<Record<string, string>>;
}

let tenants = 0;

/** A new account: its report contains only the test's own sessions. */
async function tenant(scopes?: readonly Scope[]): Promise<Tenant> {
  tenants += 1;
  const slug = `U${tenants}SAGE`;
  return harness.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: slug });
    const draft = { accountId: account.id, name: slug, slug, instruction: 'Send this message.', entropyKeyVersion: 1 };
    const brand = await accounts.createBrand(tx, draft);
    const keyOf = async (kind: 'live' | 'test'): Promise<string> =>
      (
        await accounts.createApiKey(tx, {
          accountId: account.id,
          kind,
          name: 'k',
          ...(scopes === undefined ? {} : { scopes }),
        })
      ).key;
    const body = { accountId: renderId('acct', account.id), brandId: renderId('brd', brand.id) };
    return { accountId: account.id, brandId: brand.id, key: await keyOf('live'), testKey: await keyOf('test'), body };
  });
}

const usage = ({ key }: Pick<Tenant, 'key'>, query: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const parameters = new URLSearchParams(query).toString();
  return harness.call(`/v1/usage${parameters === '' ? '' : `?${parameters}`}`, { key });
};

const iso = (ms: number): string => new Date(ms).toISOString();
const timeOf = (answer: Answer): number => Date.parse(String(answer.json['createdAt']));

describe('GET /v1/usage', () => {
  it('answers 200 with the report of the specification, from the first of the month until now', async () => {
    const someone = await tenant();
    const before = harness.clock.nowMs();
    const answer = await usage(someone);
    const now = new Date(before);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { period, ...rest } = answer.json;
    expect(rest).toEqual({
      verifications: { total: 0, approved: 0, expired: 0, denied: 0 },
      channels: { rcs: 0, sms_fallback: 0 },
      estimatedCostUsd: '0.00',
    });
    const { from, to } = period as Record<string, string>;
    expect(from).toBe(iso(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())));
    expect(Date.parse(to ?? '')).toBeGreaterThanOrEqual(before);
    expect(Date.parse(to ?? '')).toBeLessThanOrEqual(harness.clock.nowMs() + 2);
  });

  it('counts every session at once: pending, approved and cancelled', async () => {
    const someone = await tenant();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { json } = await harness.create(someone.body, { key: someone.key });
      ids.push(String(json['id']));
    }
    await harness.call(`/v1/verify/${ids[0] ?? ''}`, { method: 'DELETE', key: someone.key });
    await harness.database.query(
      `UPDATE sessions SET status = 'approved', approved_by = 'mo', ended_at = clock_timestamp() WHERE id = $1`,
      [parseId('sess', ids[1] ?? '')],
    );
    const from = iso(harness.clock.nowMs() - DAY_MS / 2);
    expect((await usage(someone, { from })).json).toMatchObject({
      verifications: { total: 3, approved: 1, expired: 0, denied: 0 },
      channels: { rcs: 0, sms_fallback: 3 },
    });
  });

  it('counts from `from` up to, but not, `to`, exact to the millisecond, in any offset', async () => {
    const someone = await tenant();
    const createdMs = timeOf(await harness.create(someone.body, { key: someone.key }));
    const total = async (fromMs: number, toMs: number): Promise<unknown> =>
      (await usage(someone, { from: iso(fromMs), to: iso(toMs) })).json['verifications'];
    expect(await total(createdMs, createdMs + 1)).toMatchObject({ total: 1 });
    expect(await total(createdMs - MINUTE_MS, createdMs)).toMatchObject({ total: 0 });
    expect(await total(createdMs + 1, createdMs + MINUTE_MS)).toMatchObject({ total: 0 });
    const shifted = `${iso(createdMs + 90 * MINUTE_MS).slice(0, -1)}+01:30`;
    const { json } = await usage(someone, { from: shifted, to: iso(createdMs + 1) });
    expect(json).toMatchObject({ period: { from: iso(createdMs) }, verifications: { total: 1 } });
  });

  it('takes a window in the future, in which nothing has happened', async () => {
    const fromMs = harness.clock.nowMs() + DAY_MS;
    const answer = await usage(await tenant(), { from: iso(fromMs), to: iso(fromMs + DAY_MS) });
    expect(answer.json).toMatchObject({
      period: { from: iso(fromMs), to: iso(fromMs + DAY_MS) },
      verifications: { total: 0 },
    });
  });

  it('widens edges older than retention to the hour, and says so in the period', async () => {
    const from = '2020-01-01T05:30:00.001+00:00';
    const to = '2020-01-01T07:30:00Z';
    const answer = await usage(await tenant(), { from, to });
    expect(answer.json['period']).toEqual({ from: '2020-01-01T05:00:00.000Z', to: '2020-01-01T08:00:00.000Z' });
    const hour = Date.parse(`${iso(harness.clock.nowMs() - 300 * DAY_MS).slice(0, 13)}:00:00Z`);
    const recent = iso(harness.clock.nowMs() - 1);
    const half = await usage(await tenant(), { from: iso(hour + 30 * MINUTE_MS), to: recent });
    expect(half.json['period']).toEqual({ from: iso(hour), to: recent });
  });

  it('does not count another account', async () => {
    const [someone, other] = [await tenant(), await tenant()];
    await harness.create(other.body, { key: other.key });
    expect((await usage(someone)).json).toMatchObject({ verifications: { total: 0 } });
    expect((await usage(other)).json).toMatchObject({ verifications: { total: 1 } });
  });
});

describe('estimatedCostUsd', () => {
  let someone: Tenant;
  let sessions: PastSession[];
  let window: { readonly from: string; readonly to: string };

  beforeAll(async () => {
    someone = await tenant();
    const { database, clock } = harness;
    const nowMs = clock.nowMs();
    const createdMs = nowMs - 10 * MINUTE_MS;
    window = { from: iso(createdMs - MINUTE_MS), to: iso(nowMs) };
    await storePrice(database, { channel: 'sms_fallback', country: '*', usd: '0.0079', fromMs: nowMs - DAY_MS });
    await storePrice(database, { channel: 'sms_fallback', country: 'GB', usd: '0.1', fromMs: nowMs - DAY_MS });
    await storePrice(database, { channel: 'sms_fallback', country: '*', usd: '5', fromMs: createdMs + 1 });
    const draft = { accountId: someone.accountId, brandId: someone.brandId, createdMs };
    sessions = await storePast(database, [
      draft,
      draft,
      { ...draft, country: 'GB', status: 'denied' },
      { ...draft, channel: 'rcs', status: 'expired' },
      { ...draft, test: true },
    ]);
    for (const session of sessions) await storeSubmittedCode(database, session, '0.041');
  });

  it('is sessions × the price of their channel when they were made + submitted codes, test keys excluded', async () => {
    // 2 × 0.0079 + 0.1 + 4 × 0.041; cards have no price yet.
    expect((await usage(someone, window)).json).toEqual({
      period: window,
      verifications: { total: 4, approved: 2, expired: 1, denied: 1 },
      channels: { rcs: 1, sms_fallback: 3 },
      estimatedCostUsd: '0.2798',
    });
    expect((await usage({ ...someone, key: someone.testKey }, window)).json).toEqual({
      period: window,
      verifications: { total: 1, approved: 1, expired: 0, denied: 0 },
      channels: { rcs: 0, sms_fallback: 1 },
      estimatedCostUsd: '0.00',
    });
  });

  it.each(['country', 'brand', 'day'] as const)('comes by %s with groupBy', async (groupBy) => {
    const { json } = await usage(someone, { ...window, groupBy });
    const breakdown = json['breakdown'] as readonly Record<string, unknown>[];
    const all = { verifications: json['verifications'], channels: json['channels'], estimatedCostUsd: '0.2798' };
    if (groupBy === 'brand') expect(breakdown).toEqual([{ brandId: someone.body['brandId'], ...all }]);
    if (groupBy === 'country') {
      expect(breakdown).toMatchObject([
        { country: 'GB', verifications: { total: 1, denied: 1 }, estimatedCostUsd: '0.141' },
        { country: 'US', verifications: { total: 3 }, estimatedCostUsd: '0.1388' },
      ]);
    }
    if (groupBy === 'day') {
      const day = iso(sessions[0]?.createdMs ?? 0).slice(0, 10);
      expect(breakdown).toEqual([{ day, ...all }]);
    }
  });

  it('stays the same when a price is changed or removed', async () => {
    const prices = new PriceStore(harness.clock);
    const other = await tenant();
    const priced = async (expected: string): Promise<void> => {
      expect((await harness.create({ ...other.body, phone: '+33612345678' }, { key: other.key })).status).toBe(200);
      expect((await usage(other)).json).toMatchObject({ estimatedCostUsd: expected });
    };
    const price = await prices.create(harness.database, { channel: 'sms_fallback', country: 'FR', usd: '1' });
    await priced('1.00');
    await prices.update(harness.database, { ...price, usd: '2' });
    expect((await usage(other)).json).toMatchObject({ estimatedCostUsd: '1.00' });
    await priced('3.00');
    await prices.delete(harness.database, price.id);
    expect((await usage(other)).json).toMatchObject({ estimatedCostUsd: '3.00' });
    // The price for all countries applies again.
    await priced('8.00');
  });

  it('of a session made by a test key is nothing', async () => {
    const other = await tenant();
    expect((await harness.create(other.body, { key: other.testKey })).status).toBe(200);
    const byTestKey = { ...other, key: other.testKey };
    expect((await usage(byTestKey)).json).toMatchObject({ verifications: { total: 1 }, estimatedCostUsd: '0.00' });
    expect((await usage(other)).json).toMatchObject({ verifications: { total: 0 }, estimatedCostUsd: '0.00' });
    expect((await harness.create(other.body, { key: other.key })).status).toBe(200);
    expect((await usage(other)).json).toMatchObject({ verifications: { total: 1 }, estimatedCostUsd: '5.00' });
    expect((await usage(byTestKey)).json).toMatchObject({ verifications: { total: 1 }, estimatedCostUsd: '0.00' });
  });
});

describe('a usage report is refused', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a date alone', { from: '2026-11-01' }, 'from'],
    ['a time without an offset', { from: '2026-11-01T00:00:00' }, 'from'],
    ['a day that does not exist', { from: '2026-02-30T00:00:00Z' }, 'from'],
    ['words', { to: 'yesterday' }, 'to'],
    ['nothing', { from: '' }, 'from'],
    ['two bad edges, the first first', { to: 'x', from: 'x' }, 'from'],
    ['from = to', { from: '2026-11-01T00:00:00Z', to: '2026-11-01T01:00:00+01:00' }, 'from'],
    ['from after to', { from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'from'],
    ['from in the future', { from: '9999-11-02T00:00:00Z' }, 'from'],
    ['to before this month', { to: '2020-01-01T00:00:00Z' }, 'to'],
    ['more than 366 days', { from: '2021-01-01T00:00:00Z', to: '2022-01-02T00:00:00.001Z' }, 'from'],
    ['an unknown grouping', { groupBy: 'channel' }, 'groupBy'],
    ['an unknown parameter', { accountId: 'acct_00000000000000000000000000' }, 'accountId'],
  ])('for %s', async (_, query, field) => {
    const answer = await usage({ key: harness.demo.apiKey }, query);
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('for a parameter that is given twice', async () => {
    const answer = await harness.call('/v1/usage?groupBy=day&groupBy=day');
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'groupBy']);
  });

  it('but not for 366 days', async () => {
    const answer = await usage(
      { key: harness.demo.apiKey },
      { from: '2021-01-01T00:00:00Z', to: '2022-01-02T00:00:00Z' },
    );
    expect(answer.status).toBe(200);
  });

  it('without a key with 401, without the scope and with the admin key with 403', async () => {
    expect((await harness.call('/v1/usage', { key: null })).code).toBe('UNAUTHORIZED');
    const { key } = await tenant(['verify', 'otp']);
    expect((await usage({ key })).code).toBe('FORBIDDEN');
    expect((await usage({ key: harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '' })).code).toBe('FORBIDDEN');
  });
});
