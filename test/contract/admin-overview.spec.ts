import { AccountStore } from '@countersign/accounts/accounts';
import { newId, parseId, renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const HOUR_MS = 3_600_000;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let testKey: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const accountId = parseId('acct', harness.demo.accountId) ?? '';
  testKey = (await accounts.createApiKey(harness.database, { accountId, kind: 'test', name: 'test' })).key;
});
afterAll(() => harness.close());

const overview = (query: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  admin.get(`overview?${new URLSearchParams(query).toString()}`);
const iso = (ms: number): string => new Date(ms).toISOString();

async function create(): Promise<string> {
  return String((await harness.create()).json['id']);
}

/** Ends a session as another process would have done, this long after its creation. */
const end = (id: string, status: string, afterMs: number): Promise<unknown> =>
  harness.database.query(
    `UPDATE sessions SET status = $2, ended_at = created_at + make_interval(secs => $3 / 1000.0),
       ended_xid = pg_current_xact_id()::text::bigint, approved_by = CASE $2 WHEN 'approved' THEN 'otp' END WHERE id = $1`,
    [parseId('sess', id), status, afterMs],
  );

describe('GET /v1/admin/overview', () => {
  const routeId = newId(Date.now());

  beforeAll(async () => {
    const [approved, denied] = [await create(), await create()];
    await create();
    await end(denied, 'denied', 1_000);
    const id = parseId('sess', approved);
    await harness.database.query(
      `INSERT INTO outbound_messages (id, session_id, account_id, test, destination, destination_prefix, country, sender,
         state, created_at, expires_at, submitted_at, submitted_xid, cost_usd, route_id)
       SELECT $2, id, account_id, test, phone, '+1415555', country, 'ACME', 'submitted', created_at, expires_at, created_at,
         pg_current_xact_id()::text::bigint, 0.04, $3 FROM sessions WHERE id = $1`,
      [id, newId(Date.now()), routeId],
    );
    await end(approved, 'approved', 8_000);
    // Minutes are kept since the first fold of an installation; here since before the windows of the tests.
    await until('the first fold is done', 90_000, async () => {
      const moved = `UPDATE usage_progress SET minutes_from = minutes_from - interval '3 days' RETURNING 1`;
      return (await harness.database.query(moved)).length > 0;
    });
  });

  it('answers 200 with the funnel of the last 24 hours, times to approve, codes and spend', async () => {
    const answer = await overview();
    expect(answer.status).toBe(200);
    const { period, spendUsd, timeToApproveMs, ...rest } = answer.json;
    expect(rest).toEqual({
      test: false,
      funnel: { created: 3, deliveredOrTapped: 2, approved: 1, denied: 1, expired: 0, cancelled: 0 },
      codesSent: 1,
    });
    expect(Number(spendUsd)).toBeGreaterThanOrEqual(0.04);
    for (const ms of Object.values(timeToApproveMs as Record<string, number>)) {
      expect(Math.abs(ms / 8_000 - 1)).toBeLessThan(0.095);
    }
    const { from, to } = period as Record<string, string>;
    const spanMs = Date.parse(to ?? '') - Date.parse(from ?? '');
    expect(spanMs).toBeGreaterThanOrEqual(24 * HOUR_MS);
    expect(spanMs).toBeLessThan(24 * HOUR_MS + 60_000);
  });

  it('widens the window to whole minutes, and says so', async () => {
    const nowMs = harness.clock.nowMs();
    const minute = Math.floor(nowMs / 60_000) * 60_000 - HOUR_MS;
    const answer = await overview({ from: iso(minute + 1), to: iso(minute + 90_000) });
    expect(answer.json).toMatchObject({
      period: { from: iso(minute), to: iso(minute + 120_000) },
      funnel: { created: 0 },
    });
  });

  it.each(['country', 'channel', 'brand', 'day', 'hour'] as const)(
    'is the sum of its groups by %s',
    async (groupBy) => {
      const { json } = await overview({ groupBy });
      const groups = json['breakdown'] as Record<string, unknown>[];
      const created = groups.map(({ funnel }) => (funnel as Record<string, number | null>)['created'] ?? 0);
      expect(created.reduce((sum, count) => sum + count, 0)).toBe(3);
      expect(groups.reduce((sum, { codesSent }) => sum + Number(codesSent), 0)).toBe(1);
      expect(Object.keys(groups[0] ?? {})[0]).toBe(groupBy === 'brand' ? 'brandId' : groupBy);
    },
  );

  it('shows of a route its codes, what they cost and the sessions that they approved', async () => {
    const { json } = await overview({ groupBy: 'route' });
    expect(json['breakdown']).toEqual([
      expect.objectContaining({
        routeId: renderId('route', routeId),
        funnel: { created: null, deliveredOrTapped: null, approved: 1, denied: null, expired: null, cancelled: null },
        codesSent: 1,
        spendUsd: '0.04',
      }),
    ]);
  });

  it('shows sessions of test keys with test=true alone', async () => {
    expect((await overview({ test: 'true' })).json).toMatchObject({
      test: true,
      funnel: { created: 0 },
      spendUsd: '0.00',
    });
    await harness.create({}, { key: testKey });
    expect((await overview({ test: 'true' })).json).toMatchObject({ funnel: { created: 1 } });
    expect((await overview({ test: 'false' })).json).toMatchObject({ funnel: { created: 3 } });
  });

  it.each([
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-11-01' }, 'to'],
    [{ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'from'],
    [{ from: '2024-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'from'],
    [{ groupBy: 'phone' }, 'groupBy'],
    [{ groupBy: 'hour', from: '2026-01-01T00:00:00Z', to: '2026-11-01T00:00:00Z' }, 'groupBy'],
    [{ test: 'yes' }, 'test'],
  ])('refuses %j', async (query, field) => {
    const { status, json } = await overview(query);
    expect([status, json['error']]).toMatchObject([422, { code: 'VALIDATION_ERROR', field }]);
  });
});
