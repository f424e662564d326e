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

describe('the audit log', () => {
  it('has the author, the time, and the values before and after of every change, newest first', async () => {
    const made = await admin.post('keys', { accountId: harness.demo.accountId, name: 'traced' });
    const { key, ...shown } = made.json;
    const rotated = await admin.post(`keys/${String(shown['id'])}/rotate`);
    const page = await admin.get('audit?limit=2');
    expect(page.json['hasMore']).toBe(false);
    const about = { actor: 'root', resource: 'keys', resourceId: shown['id'] };
    expect(dataOf(page)).toMatchObject([
      {
        ...about,
        action: 'rotate',
        before: shown,
        after: { ...shown, prefix: rotated.json['prefix'] },
        requestId: rotated.headers['x-request-id'],
      },
      { ...about, action: 'create', before: null, after: shown, requestId: made.headers['x-request-id'] },
    ]);
    for (const { at } of dataOf(page)) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(page.text).not.toContain(String(key));
    expect(page.text).not.toContain(String(rotated.json['key']));
  });

  it('is paged like every list', async () => {
    await admin.post('accounts', { name: 'One' });
    const [latest] = dataOf(await admin.get('audit?limit=1'));
    const [before] = dataOf(await admin.get(`audit?limit=1&startingAfter=${String(latest?.['id'])}`));
    expect([latest?.['action'], before?.['action']]).toEqual(['create', 'rotate']);
    expect((await admin.get('audit?startingAfter=x')).field).toBe('startingAfter');
    expect((await admin.get('audit?limit=0')).field).toBe('limit');
  });

  it('is narrowed to a kind of thing, and to one of them', async () => {
    const { id } = (await admin.post('accounts', { name: 'Told of' })).json;
    await admin.patch(`accounts/${String(id)}`, { name: 'Told of again' });
    await admin.post('keys', { accountId: id, name: 'another' });
    const actions = async (query: string): Promise<unknown[]> =>
      dataOf(await admin.get(`audit?${query}`)).map(({ resource, action }) => `${String(resource)} ${String(action)}`);
    const own = `resourceId=${String(id)}`;
    expect(await actions(own)).toEqual(['accounts update', 'accounts create']);
    expect(await actions(`resource=accounts&${own}&limit=1`)).toEqual(['accounts update']);
    expect(await actions(`resource=keys&${own}`)).toEqual([]);
    expect(new Set(await actions('resource=keys'))).toEqual(new Set(['keys create', 'keys rotate']));
    const [latest] = dataOf(await admin.get(`audit?${own}&limit=1`));
    expect(await actions(`${own}&startingAfter=${String(latest?.['id'])}`)).toEqual(['accounts create']);
    expect((await admin.get('audit?resource=A%00')).field).toBe('resource');
    expect((await admin.get('audit?resourceId=')).field).toBe('resourceId');
    expect((await admin.get('audit?actor=admin')).field).toBe('actor');
  });

  it.each([3_000, 6_000])('shows a page with an entry that is nested %d levels deep', async (levels) => {
    const state = '['.repeat(levels) + ']'.repeat(levels);
    const id = harness.clock.newId();
    await harness.database.query(
      `INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after)
       VALUES ($1, now(), 'x', 'update', 'brands', 'brd_1', $2::json, '[1, "x", null]'::json)`,
      [id, state],
    );
    for (const reader of [admin, await admin.colleague('viewer', `viewer of ${levels}`)]) {
      const page = await reader.get('audit?resource=brands&limit=1');
      expect(page.status).toBe(200);
      expect(dataOf(page)).toMatchObject([
        {
          before: { unreadable: 'JSON of more than 64 levels' },
          after: { unreadable: 'JSON that is not an object' },
        },
      ]);
    }
  });

  it('is for the admin key alone, and is never written by hand', async () => {
    expect((await harness.call('/v1/admin/audit')).code).toBe('FORBIDDEN');
    expect((await admin.post('audit', {})).status).toBe(405);
    expect((await admin.get('audit/aud_00000000000000000000000000')).code).toBe('NOT_FOUND');
  });
});
