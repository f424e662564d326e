import { AccountStore, SCOPES } from '@countersign/accounts/accounts';
import { firstIdAt, parseId, renderId } from '@countersign/ids';
import { AuditStore } from '@countersign/events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestLogService } from '../../apps/control-plane/src/account/requests/request-log.service.js';
import { AdminService } from '../../apps/control-plane/src/admin/crud/admin.service.js';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer, type Call } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

const WITHIN_MS = 10_000;
const DAY_MS = 86_400_000;

let harness: ControlPlaneHarness;
let key: string;
let keyId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const { json } = await new AdminCalls(harness).post('keys', {
    ...{ accountId: harness.demo.accountId, name: 'developer', scopes: SCOPES, limits: { default: 100_000 } },
  });
  key = String(json['key']);
  keyId = String(json['id']);
});
afterAll(() => harness.close());

type Entry = Readonly<Record<string, unknown>>;

const list = (query = '', by = key): Promise<Answer> =>
  harness.call(`/v1/account/requests?limit=100${query}`, { key: by });
async function entryOf({ headers }: Answer): Promise<Entry> {
  let entry: Entry | undefined;
  await until('the request is listed', WITHIN_MS, async () => {
    entry = dataOf(await list()).find(({ id }) => id === headers['x-request-id']);
    return entry !== undefined;
  });
  return entry ?? {};
}

describe('the log of requests', () => {
  it('has errors with their code, and no body', async () => {
    const body = { phone: '+14155552671', metadata: { secret: 'in-the-body' } };
    const answer = await harness.call('/v1/verify', { method: 'POST', key, body });
    expect(await entryOf(answer)).toEqual({
      ...{ id: answer.headers['x-request-id'], keyId, method: 'POST', path: '/v1/verify', status: 422 },
      ...{ code: answer.code, at: expect.any(String) as string, latencyMs: expect.any(Number) as number },
    });
    const rows = await harness.database.query('SELECT * FROM account_requests');
    expect(JSON.stringify(rows)).not.toMatch(/4155552671|in-the-body/);
  });

  it.each<[string, string, Call]>([
    ['/v1/verify?phone=%2B14155552671&limit=0', '/v1/verify?phone=+141******71&limit=0', {}],
    ['/v1/verify/14155552671', '/v1/verify/141******71', {}],
    ['/v1/nothing?key=csk_live_abc', '/v1/nothing?key=csk_live_[redacted]', {}],
    ['/v1/verify', '/v1/verify', { method: 'PUT' }],
  ])('masks phones and leaves out secrets: %s', async (target, path, call) => {
    expect((await entryOf(await harness.call(target, { ...call, key })))['path']).toBe(path);
  });

  it('has a sample of the requests that succeed', async () => {
    const before = dataOf(await list()).length;
    for (let calls = 0; calls < 40; calls += 1)
      await Promise.all(Array.from({ length: 25 }, () => harness.call('/v1/account', { key })));
    const error = await entryOf(await harness.call('/v1/verify/x', { key }));
    expect(error['status']).toBe(404);
    // Of a thousand, ten on average: more than 60 have a probability below 1e-25.
    expect(dataOf(await list()).length - before).toBeLessThan(60);
  });

  it('is that of the account alone', async () => {
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
    const foreign = await accounts.createApiKey(harness.database, {
      ...{ accountId: account.id, kind: 'live', name: 'k', scopes: SCOPES },
    });
    const own = await harness.call('/v1/verify/y', { key });
    await entryOf(own);
    const seen = dataOf(await list('', foreign.key));
    expect(seen.map(({ keyId: id }) => id).filter((id) => id !== renderId('key', foreign.id))).toEqual([]);
  });

  it('has pages, newest first, as CSV too', async () => {
    await entryOf(await harness.call('/v1/verify/z', { key }));
    const all = dataOf(await list()).map(({ id }) => String(id));
    expect(all).toEqual([...all].sort().reverse());
    const after = dataOf(await list(`&startingAfter=${all[1] ?? ''}`)).map(({ id }) => id);
    expect(after[0]).toBe(all[2]);
    expect((await list('&format=csv')).text).toMatch(/^id,at,keyId,method,path,status,code,latencyMs\r\n/);
    expect((await list('&startingAfter=x')).code).toBe('VALIDATION_ERROR');
  });

  it('ends after 7 days, and older rows are deleted', async () => {
    const idAt = (ms: number): string => firstIdAt(harness.clock.nowMs() - ms);
    const [old, recent] = [idAt(7 * DAY_MS + 60_000), idAt(7 * DAY_MS - 60_000)];
    await harness.database.query(
      `INSERT INTO account_requests (id, account_id, test, key_id, at, method, path, status, latency_ms)
       SELECT id, $2, false, $3, now(), 'GET', '/', 404, 1 FROM unnest($1::uuid[]) AS new (id)`,
      [[old, recent], parseId('acct', harness.demo.accountId), parseId('key', keyId)],
    );
    const listed = dataOf(await list()).map(({ id }) => id);
    expect(listed).toContain(renderId('req', recent));
    expect(listed).not.toContain(renderId('req', old));
    const admin = new AdminService(harness.database, new AuditStore(harness.clock), {
      hold: () => Promise.resolve(null),
    });
    const log = new RequestLogService(harness.database, admin, harness.clock);
    expect([await log.purge(10), await log.purge(10)]).toEqual([1, 0]);
    expect(dataOf(await list()).map(({ id }) => id)).toContain(renderId('req', recent));
  });
});
