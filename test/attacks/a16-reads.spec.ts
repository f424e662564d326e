import { AccountStore } from '@countersign/accounts/accounts';
import { idTimeMs, parseId, renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

const DAY_MS = 24 * 60 * 60 * 1000;

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

describe('A16 lists made to read much', () => {
  it('A16 a list reads so many rows for a page, however few of the sessions match, and the pages together have each one', async () => {
    const key = harness.demo.testApiKey;
    const [accountId, brandId] = [parseId('acct', harness.demo.accountId), parseId('brd', harness.demo.brandId)];
    // One in 15,000 is approved; the newest of them is behind as many rows as a page reads.
    const first = harness.clock.nowMs() - DAY_MS / 2;
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
    const statuses: number[] = [];
    for (let wave = 0; wave < 50; wave += 1) {
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, poll))).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 404)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(450);
    const [row] = await harness.database.query<{ counters: number }>(
      `SELECT count(*)::int AS counters FROM rate_limits WHERE key LIKE '%:poll:' || $1 || ':%'`,
      [keyId],
    );
    expect(row?.counters).toBe(50);
    const refused = await poll();
    expect(refused.headers['ratelimit-policy']).toBe('"default";q=50;w=60, "poll";q=60;w=60');
    expect(refused.headers['ratelimit']).toMatch(/^"default";r=0;t=[0-9]+, "poll";r=59;t=60$/);
    expect(refused.headers['retry-after']).toMatch(/^[1-9][0-9]?$/);
  });
});
