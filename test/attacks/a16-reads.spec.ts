import { AccountStore } from '@countersign/accounts/accounts';
import { idTimeMs, parseId, renderId } from '@countersign/ids';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

describe('A16 and A13 lists made to read much', () => {
  let first: number;

  beforeAll(async () => {
    const [accountId, brandId] = [parseId('acct', harness.demo.accountId), parseId('brd', harness.demo.brandId)];
    // One in 15,000 is approved; the newest of them is behind as many rows as a page reads.
    first = harness.clock.nowMs() - DAY_MS / 2;
    const rows = 60_000;
    // In parts, because a statement of the pool has a time limit.
    const part = 5_000;
    for (let from = 1; from <= rows; from += part)
      await harness.database.query(
        `INSERT INTO sessions (id, account_id, brand_id, phone, country, test, status, channel, token_digest,
         client_challenge, brand_slug, brand_name, instruction, inbound_number, allow_sms_otp, metadata,
         entropy_key_version, created_at, expires_at, ended_at, approved_by)
       SELECT (lpad(to_hex($1::bigint - n), 12, '0') || substr(md5(n::text), 1, 20))::uuid, $2, $3, '+14155552671', 'US',
         true, CASE WHEN n % 30000 = 25000 THEN 'approved' ELSE 'expired' END, 'sms_fallback', sha256(n::text::bytea),
         repeat('ab', 32), 'ACME', 'Acme', 'Send this.', '+14155550100', true, '{}', 1, clock_timestamp(),
         clock_timestamp(), clock_timestamp(), CASE WHEN n % 30000 = 25000 THEN 'mo' END
       FROM generate_series($4::int, $5::int) AS n`,
        [first, accountId, brandId, from, from + part - 1],
      );
  });

  it('A16 a list reads so many rows for a page, however few of the sessions match, and the pages together have each one', async () => {
    const key = harness.demo.testApiKey;
    for (const filter of ['status=approved', `status=approved&phone=${encodeURIComponent(PHONE)}`]) {
      const times: number[] = [];
      const lengths: number[] = [];
      for (let query = filter; ;) {
        const { status, json } = await harness.call(`/v1/verify?${query}`, { key });
        expect(status).toBe(200);
        const data = json['data'] as { id: string; phone: string }[];
        const inserted = data.filter(({ id }) => idTimeMs(parseId('sess', id) ?? '') <= first);
        times.push(...inserted.map(({ id }) => first - idTimeMs(parseId('sess', id) ?? '')));
        lengths.push(inserted.length);
        if (json['hasMore'] !== true) break;
        query = `${filter}&startingAfter=${String(json['nextStartingAfter'])}`;
      }
      expect(times).toEqual([25_000, 55_000]);
      // 20,000 rows a page: the first one has none of the two.
      expect(lengths[0]).toBe(0);
      expect(lengths.length).toBeGreaterThanOrEqual(4);
    }
  });

  it('A13 positions in a list do not depend on sessions of other accounts and of the other mode', async () => {
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { account } = await accounts.createAccount(harness.database, { name: 'Other', defaultWebhookUrl: null });
    const keyOf = async (kind: 'live' | 'test', accountId: string): Promise<string> =>
      (await accounts.createApiKey(harness.database, { accountId, kind, name: kind })).key;
    const demo = parseId('acct', harness.demo.accountId) ?? '';
    const keys = [await keyOf('live', account.id), await keyOf('test', account.id), await keyOf('live', demo)];
    const phone = `phone=${encodeURIComponent(PHONE)}`;
    // The 60,000 sessions of this phone are those of the demo account in test mode.
    for (const filter of ['status=approved', 'status=denied', 'status=expired'])
      for (const key of keys)
        for (const query of [filter, `${filter}&${phone}`]) {
          const { status, json } = await harness.call(`/v1/verify?${query}`, { key });
          expect([query, status, json]).toEqual([query, 200, { data: [], hasMore: false }]);
        }
  });
});

describe('A16 reports that take long', () => {
  it('A16 take no connection from creates, however many are asked for', async () => {
    const key = harness.environment['COUNTERSIGN_ADMIN_KEY'] ?? '';
    const overview = (): Promise<unknown> => harness.call('/v1/admin/overview', { key });
    const owner = new pg.Client({ connectionString: harness.home.ownerUrl });
    await owner.connect();
    try {
      expect(await overview()).toMatchObject({ status: 200 });
      await owner.query('BEGIN');
      await owner.query('LOCK TABLE usage_progress, usage_minutes, overview_hours IN ACCESS EXCLUSIVE MODE');
      const reports = Array.from({ length: 40 }, overview);
      for (let count = 0; count < 10; count += 1) {
        const created = await harness.call('/v1/verify', { method: 'POST', body: harness.createBody() });
        expect(created.status).toBe(200);
      }
      await owner.query('COMMIT');
      await Promise.all(reports);
      expect(await overview()).toMatchObject({ status: 200 });
    } finally {
      await owner.end();
    }
  });
});

describe('A16 polls of ids that are invented', () => {
  it('A16 make no more counters than the quota of their key, however many are refused', async () => {
    const { id: keyId, key } = await new AccountStore({
      keys: harness.keys,
      newId: () => harness.clock.newId(),
    }).createApiKey(harness.database, {
      accountId: parseId('acct', harness.demo.accountId) ?? '',
      kind: 'live',
      name: 'poller',
      limits: { default: 50 },
    });
    const poll = (): ReturnType<typeof harness.call> =>
      harness.call(`/v1/verify/${renderId('sess', harness.clock.newId())}`, { key });
    const answers: Awaited<ReturnType<typeof poll>>[] = [];
    for (let wave = 0; wave < 50; wave += 1) answers.push(...(await Promise.all(Array.from({ length: 10 }, poll))));
    const unknown = answers.filter(({ status }) => status === 404);
    const refused = answers.filter(({ status }) => status === 429);
    // More than the quota if its window ends while the polls run.
    expect(unknown.length).toBeGreaterThanOrEqual(50);
    expect(refused.length).toBeGreaterThan(0);
    expect(unknown.length + refused.length).toBe(500);
    const [row] = await harness.database.query<{ counters: number }>(
      `SELECT count(*)::int AS counters FROM rate_limits WHERE key LIKE '%:poll:' || $1 || ':%'`,
      [keyId],
    );
    expect(row?.counters).toBeGreaterThan(0);
    expect(row?.counters).toBeLessThanOrEqual(unknown.length);
    for (const { headers } of refused) {
      expect(headers['ratelimit-policy']).toBe('"default";q=50;w=60, "poll";q=60;w=60');
      expect(headers['ratelimit']).toMatch(/^"default";r=0;t=[0-9]+, "poll";r=59;t=60$/);
      expect(headers['retry-after']).toMatch(/^[1-9][0-9]?$/);
    }
  });
});
