import { createHash, randomBytes } from 'node:crypto';
import { rootCertificates } from 'node:tls';
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

  describe('with entries of any size', () => {
    const append = (resource: string, before: string, after = '{}'): Promise<unknown> =>
      harness.database.query(
        `INSERT INTO audit_entries (id, at, actor, action, resource, resource_id, before, after)
         VALUES ($1, now(), repeat('x', 9000000), 'update', $2, 'brd_1', $3::json, $4::json)`,
        [harness.clock.newId(), resource, before, after],
      );

    it.each([
      ['one text', JSON.stringify({ text: 'x'.repeat(9_000_000) })],
      ['escapes', JSON.stringify({ text: '\\'.repeat(4_500_000) })],
      ['random text, which is not compressed', JSON.stringify({ text: randomBytes(4_500_000).toString('hex') })],
      ['brackets', `{"a":[${'[],'.repeat(3_000_000)}1]}`],
    ])('shows a page with 9 MB of %s', async (_what, state) => {
      const resource = `r-${randomBytes(4).toString('hex').replace(/[0-9]/g, 'x')}`;
      await append(resource, state);
      for (const reader of [admin, await admin.colleague('viewer', `viewer of ${resource}`)]) {
        const page = await reader.get(`audit?resource=${resource}`);
        expect([page.status, page.text.length < 2_000]).toEqual([200, true]);
        expect(dataOf(page)).toMatchObject([
          { actor: 'x'.repeat(300), before: { unreadable: 'JSON of more than 131072 octets' }, after: {} },
        ]);
      }
    });

    it('ends a page early where its states are large, and goes on behind it', async () => {
      const state = JSON.stringify({ text: 'x'.repeat(100_000) });
      for (let count = 0; count < 12; count += 1) await append('large', state, state);
      const sizes: number[] = [];
      let query = 'audit?resource=large&limit=10';
      for (let hasMore = true; hasMore;) {
        const page = await admin.get(query);
        expect(page.text.length).toBeLessThan(800_000);
        sizes.push(dataOf(page).length);
        hasMore = page.json['hasMore'] === true;
        query = `audit?resource=large&limit=10&startingAfter=${String(dataOf(page).at(-1)?.['id'])}`;
      }
      expect(sizes).toEqual([3, 3, 3, 3]);
    });

    it('stores of a certificate the beginning, the length and the digest', async () => {
      const [pem = ''] = rootCertificates;
      const caCertificate = Array.from({ length: 20 }, () => pem).join('\n');
      const bind = { host: '127.0.0.1', port: 1, systemId: 'x', password: 'x', enabled: false };
      const { json } = await admin.post('binds', { ...bind, tls: { enabled: true, caCertificate } });
      expect(json['tls']).toEqual({ enabled: true, caCertificate });
      const digest = createHash('sha256').update(caCertificate).digest('hex');
      const shown = `${caCertificate.slice(0, 2_048)}… [${caCertificate.length} characters, SHA-256 ${digest}]`;
      const [entry] = await admin.notes(json['id']);
      expect(entry?.after).toMatchObject({ tls: { caCertificate: shown } });
      const { id } = json;
      await admin.patch(`binds/${String(id)}`, { tls: { enabled: true, caCertificate: `${caCertificate}\n${pem}` } });
      expect(await admin.notes(id)).toHaveLength(2);
    });
  });

  it('has an entry of each page of itself that shows people, to roles that see them', async () => {
    const phone = '+14155550137';
    const member = await admin.post('members', { name: 'Ann', role: 'viewer', phone });
    const query = `resource=members&resourceId=${String(member.json['id'])}`;
    const [support, viewer] = [await admin.colleague('support'), await admin.colleague('viewer')];
    const entriesAfter = async (reader: AdminCalls, filter: string): Promise<Record<string, unknown>[]> => {
      const page = await reader.get(`audit?${filter}`);
      return dataOf(await admin.get('audit?resource=audit')).filter(
        ({ requestId }) => requestId === page.headers['x-request-id'],
      );
    };
    expect((await support.get(`audit?${query}`)).text).toContain(phone);
    expect(await entriesAfter(support, query)).toMatchObject([
      { actor: 'support', action: 'read', resourceId: 'list', after: { count: 1, filter: { resource: 'members' } } },
    ]);
    expect((await viewer.get(`audit?${query}`)).text).not.toContain(phone);
    expect(await entriesAfter(viewer, query)).toEqual([]);
    expect(await entriesAfter(support, 'resource=nothing')).toEqual([]);
    expect(await entriesAfter(support, `resource=accounts&limit=1`)).toEqual([]);
  });

  it('is for the admin key alone, and is never written by hand', async () => {
    expect((await harness.call('/v1/admin/audit')).code).toBe('FORBIDDEN');
    expect((await admin.post('audit', {})).status).toBe(405);
    expect((await admin.get('audit/aud_00000000000000000000000000')).code).toBe('NOT_FOUND');
  });
});
