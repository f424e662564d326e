import { DestinationStore } from '@countersign/carriers/destinations';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let guard: DestinationStore;
let accountId: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  guard = new DestinationStore(harness.clock);
  accountId = parseId('acct', harness.demo.accountId) ?? '';
});
afterAll(() => harness.close());

const send = async (phone: string): Promise<Answer> => {
  const { id } = (await harness.create({ phone })).json;
  return harness.call(`/v1/verify/${String(id)}/send-sms`, { method: 'POST' });
};
const block = (prefix: string) =>
  guard.blockPrefix(harness.database, { accountId, prefix, reason: 'converts too little', blockSeconds: 3_600 });

describe('a destination rule', () => {
  it('needs a prefix and an action; it applies to all accounts and does not expire by default', async () => {
    const answer = await admin.post('destinations', { prefix: '+881', action: 'block' });
    expect(answer.status).toBe(201);
    const { id, ...rest } = answer.json;
    expect(id).toMatch(/^dest_[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(rest).toEqual({
      accountId: null,
      prefix: '+881',
      action: 'block',
      kinds: [],
      reason: '',
      until: null,
      origin: 'admin',
    });
    expect((await admin.get(`destinations/${String(id)}`)).json).toEqual(answer.json);
  });

  it('for a whole number has an entry in the audit log with each read that shows it', async () => {
    const whole = await admin.post('destinations', { prefix: PHONE, action: 'block', reason: 'asked for it' });
    const short = await admin.post('destinations', { prefix: '+8816', action: 'block' });
    const [support, viewer] = [await admin.colleague('support'), await admin.colleague('viewer', 'another viewer')];
    const readsOf = async (resourceId: string): Promise<unknown[]> =>
      dataOf(await admin.get(`audit?resource=destinations&resourceId=${resourceId}`))
        .filter(({ action }) => action === 'read')
        .map(({ actor }) => actor);
    for (const reader of [support, viewer]) {
      await reader.get(`destinations/${idOf(whole)}`);
      await reader.get(`destinations/${idOf(short)}`);
      await reader.get('destinations');
    }
    expect(await readsOf(idOf(whole))).toEqual(['support']);
    expect(await readsOf(idOf(short))).toEqual([]);
    expect(await readsOf('list')).toEqual(['support']);
    for (const rule of [whole, short]) await admin.delete(`destinations/${idOf(rule)}`);
  });

  it('takes all of its fields, at its creation and later', async () => {
    const body = {
      accountId: harness.demo.accountId,
      prefix: '+4479',
      action: 'allow',
      kinds: ['toll_free', 'non_geographic'],
      reason: 'a customer, ticket 4711',
      until: '2030-01-01T01:00:00+01:00',
    };
    const answer = await admin.post('destinations', body);
    expect(answer.json).toMatchObject({ ...body, until: '2030-01-01T00:00:00.000Z' });
    const changes = { prefix: '+4478', action: 'block', kinds: [], reason: '', until: null };
    expect((await admin.patch(`destinations/${idOf(answer)}`, { action: 'block' })).field).toBe('kinds');
    const changed = await admin.patch(`destinations/${idOf(answer)}`, changes);
    expect([changed.status, changed.json]).toEqual([200, { ...answer.json, ...changes }]);
  });

  it.each<[string, unknown]>([
    ['accountId', 5],
    ['accountId', ''],
    ['accountId', 'acct_00000000000000000000000000'],
    ['prefix', undefined],
    ['prefix', '+'],
    ['prefix', '44'],
    ['prefix', '+0'],
    ['prefix', '+1234567890123456'],
    ['prefix', '+44\n'],
    ['prefix', null],
    ['action', undefined],
    ['action', 'deny'],
    ['action', null],
    ['kinds', ['toll_free']],
    ['kinds', ['voip']],
    ['kinds', 'pager'],
    ['kinds', null],
    ['reason', 'two\nlines'],
    ['reason', 'x'.repeat(201)],
    ['reason', null],
    ['until', 'tomorrow'],
    ['until', '2030-01-01'],
    ['until', 5],
    ['origin', 'guard'],
    ['strikes', 0],
  ])('with %s %j is refused, and nothing is made', async (field, value) => {
    const before = (await admin.get('destinations?limit=100')).text;
    const answer = await admin.post('destinations', { prefix: '+999', action: 'block', [field]: value });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect((await admin.get('destinations?limit=100')).text).toBe(before);
  });

  it('is the only one of its prefix for an account, and for all', async () => {
    const common = { prefix: '+33', action: 'block' };
    expect((await admin.post('destinations', common)).status).toBe(201);
    expect((await admin.post('destinations', { ...common, accountId: harness.demo.accountId })).status).toBe(201);
    const twice = await admin.post('destinations', { ...common, action: 'allow' });
    expect([twice.status, twice.code, twice.field]).toEqual([409, 'CONFLICT', 'prefix']);
    const other = idOf(await admin.post('destinations', { ...common, prefix: '+34' }));
    expect((await admin.patch(`destinations/${other}`, { prefix: '+33' })).code).toBe('CONFLICT');
  });

  it('acts on the next code, and no more once it is deleted; the caller does not learn which rule it was', async () => {
    const rule = { prefix: PHONE.slice(0, 5), action: 'block', reason: 'secret reason' };
    const id = idOf(await admin.post('destinations', rule));
    const blocked = await send(PHONE);
    expect([blocked.status, blocked.code, blocked.field]).toEqual([403, 'DESTINATION_BLOCKED', 'phone']);
    expect(blocked.text).not.toContain('secret reason');
    const gone = await admin.delete(`destinations/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await send(PHONE)).code).not.toBe('DESTINATION_BLOCKED');
    expect((await admin.get(`destinations/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.notes(id)).map(({ action }) => action)).toEqual(['create', 'delete']);
  });
});

describe('the automatic blocks of the guard', () => {
  it('is listed with its account, reason and end, and can be lifted', async () => {
    const rule = await block('+4475');
    const [listed] = dataOf(await admin.get(`destinations?accountId=${harness.demo.accountId}&limit=1`));
    expect(listed).toMatchObject({
      accountId: harness.demo.accountId,
      prefix: '+4475',
      action: 'block',
      reason: 'converts too little',
      origin: 'guard',
      until: rule?.until?.toISOString(),
    });
    expect((await admin.delete(`destinations/${String(listed?.['id'])}`)).status).toBe(204);
    expect((await admin.get('destinations')).text).not.toContain('+4475');
  });

  it('is not changed by hand, but a rule of one’s own stands beside it', async () => {
    await block('+4476');
    const [listed] = dataOf(await admin.get('destinations?limit=1'));
    const refused = await admin.patch(`destinations/${String(listed?.['id'])}`, { until: null });
    expect([refused.status, refused.code]).toEqual([409, 'CONFLICT']);
    const own = { prefix: '+4476', action: 'allow', accountId: harness.demo.accountId };
    expect((await admin.post('destinations', own)).status).toBe(201);
  });
});

it('a block of the guard is read by viewers with a prefix of three digits', async () => {
  await block('+4420794');
  const [rule] = dataOf(await admin.get('destinations?limit=1'));
  expect(rule).toMatchObject({ prefix: '+4420794' });
  const id = String(rule?.['id']);
  const viewer = await admin.colleague('viewer', 'viewer of rules');
  expect((await viewer.get(`destinations/${id}`)).json).toMatchObject({ prefix: '+442', origin: 'guard' });
  expect((await viewer.get('destinations')).text).not.toContain('+4420');
  await admin.delete(`destinations/${id}`);
});

describe('the refusals of the guard', () => {
  it('is tallied by account, rule and prefix, newest first', async () => {
    const list = async (query = '') => dataOf(await admin.get(`destinations/refusals?${query}`));
    const before = (await list()).length;
    await admin.post('destinations', { prefix: '+447911', action: 'block' });
    for (const phone of ['+447911123456', '+447911123457', '+19002345678']) {
      expect((await send(phone)).code).toBe('DESTINATION_BLOCKED');
    }
    const about = { accountId: harness.demo.accountId };
    await expect
      .poll(() => list(`accountId=${harness.demo.accountId}&limit=2`))
      .toMatchObject([
        { ...about, rule: 'number_type', prefix: '+1900234', refused: 1 },
        { ...about, rule: 'destination_rule', prefix: '+44791112', refused: 2 },
      ]);
    const [latest] = await list('limit=1');
    expect(await list(`startingAfter=${String(latest?.['id'])}`)).toHaveLength(before + 1);
  });

  it('is read by viewers without the digits that are missing in masked phones', async () => {
    const viewer = await admin.colleague('viewer');
    await send('+447911123456');
    await expect.poll(async () => dataOf(await admin.get('destinations/refusals')).length).toBeGreaterThan(0);
    const [owners, viewers] = [await admin.get('destinations/refusals'), await viewer.get('destinations/refusals')];
    const prefixes = dataOf(owners).map(({ prefix }) => String(prefix));
    expect(prefixes.some((prefix) => prefix.length > 4)).toBe(true);
    expect(dataOf(viewers).map(({ prefix }) => prefix)).toEqual(prefixes.map((prefix) => prefix.slice(0, 4)));
    expect(dataOf(viewers)).toEqual(
      dataOf(owners).map((each) => ({ ...each, prefix: String(each['prefix']).slice(0, 4) })),
    );
  });

  it('is read and no more', async () => {
    expect((await harness.call('/v1/admin/destinations/refusals')).code).toBe('FORBIDDEN');
    expect((await admin.post('destinations/refusals', {})).status).toBe(405);
    expect((await admin.delete('destinations/refusals')).code).toBe('NOT_FOUND');
    expect((await admin.get('destinations/refusals?startingAfter=x')).field).toBe('startingAfter');
  });
});
