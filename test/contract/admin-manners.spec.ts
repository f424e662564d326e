import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

/** Each resource with the prefix of its ids. */
const RESOURCES = [
  ['accounts', 'acct'],
  ['brands', 'brd'],
  ['keys', 'key'],
  ['admin-keys', 'akey'],
  ['members', 'mbr'],
  ['prices', 'price'],
  ['destinations', 'dest'],
  ['binds', 'bind'],
  ['smpp-systems', 'sys'],
  ['inbound-numbers', 'num'],
  ['routes', 'route'],
] as const;

describe.each(RESOURCES)('/v1/admin/%s', (resource, prefix) => {
  const unknown = `${prefix}_00000000000000000000000000`;

  it('is for the admin key alone', async () => {
    for (const path of [resource, `${resource}/${unknown}`]) {
      const target = `/v1/admin/${path}`;
      expect((await harness.call(target)).code).toBe('FORBIDDEN');
      expect((await harness.call(target, { key: harness.demo.testApiKey })).code).toBe('FORBIDDEN');
      expect((await harness.call(target, { key: null })).code).toBe('UNAUTHORIZED');
    }
    const refused = await harness.call(`/v1/admin/${resource}`, { method: 'POST', body: { name: 'x' } });
    expect([refused.status, refused.code]).toEqual([403, 'FORBIDDEN']);
  });

  it.each([[unknown], ['nonsense'], ['sess_00000000000000000000000000'], [unknown.toLowerCase()], ['%00'], ['..%2F']])(
    'has nothing at %s',
    async (id) => {
      for (const answer of [await admin.get(`${resource}/${id}`), await admin.patch(`${resource}/${id}`, {})]) {
        expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
      }
    },
  );

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['startingAfter=x', 'startingAfter'],
    ['startingAfter=sess_00000000000000000000000000', 'startingAfter'],
    ['nothing=1', 'nothing'],
  ])('is not listed with %s', async (query, field) => {
    const answer = await admin.get(`${resource}?${query}`);
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
  });

  it('answers to GET and POST, one of them to GET and PATCH at least', async () => {
    const all = await harness.call(`/v1/admin/${resource}`, { method: 'PUT', key: admin.key });
    expect([all.status, all.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
    const one = await harness.call(`/v1/admin/${resource}/${unknown}`, { method: 'PUT', key: admin.key });
    expect(one.headers['allow']).toContain('GET, HEAD, PATCH');
  });

  it.each([['[]'], ['{'], ['"x"'], ['{"name":"a","name":"b"}']])('refuses the body %s', async (body) => {
    expect((await admin.post(resource, body)).code).toBe('MALFORMED_REQUEST');
  });
});

describe('a list', () => {
  it('goes newest first, page by page, to its end', async () => {
    const ids: unknown[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await admin.post('accounts', { name: 'P' })).json['id']);
    const seen: unknown[] = [];
    const sizes: number[] = [];
    for (let query = 'limit=2', more = true; more; query = `limit=2&startingAfter=${String(seen.at(-1))}`) {
      const page = await admin.get(`accounts?${query}`);
      seen.push(...dataOf(page).map(({ id }) => id));
      sizes.push(dataOf(page).length);
      more = page.json['hasMore'] === true;
    }
    expect(seen).toEqual([...ids, harness.demo.accountId]);
    expect(sizes).toEqual([2, 2, 2]);
  });

  it('holds 20 by default', async () => {
    for (let count = 0; count < 21; count += 1) await admin.post('accounts', { name: 'P' });
    const page = await admin.get('accounts');
    expect([dataOf(page).length, page.json['hasMore']]).toEqual([20, true]);
  });

  it('is of one account only where things belong to one', async () => {
    expect((await admin.get('brands?accountId=x')).field).toBe('accountId');
    expect((await admin.get(`accounts?accountId=${harness.demo.accountId}`)).field).toBe('accountId');
  });
});

describe('changes that meet', () => {
  it('are both there: each adds its own field', async () => {
    const id = String((await admin.post('accounts', { name: 'Met' })).json['id']);
    await admin.post('prices', { channel: 'sms_otp', country: '*', usd: '0.10' });
    const changes = [{ name: 'Changed' }, { otpCountries: ['GB'] }, { otpDailySpendCapUsd: '1' }, { active: false }];
    await Promise.all(changes.map((change) => admin.patch(`accounts/${id}`, change)));
    expect((await admin.get(`accounts/${id}`)).json).toMatchObject({
      name: 'Changed',
      otpCountries: ['GB'],
      otpDailySpendCapUsd: '1.00',
      active: false,
    });
    expect(await admin.notes(id)).toHaveLength(1 + changes.length);
  });
});
