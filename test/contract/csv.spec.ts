import { SCOPES } from '@countersign/accounts/accounts';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, parametersOf } from '../../apps/control-plane/src/docs/openapi/operations.js';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ConsoleBrowser } from '../support/console-browser.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

/** The rows of a page in CSV, by the names of the columns. */
function rowsOf({ text }: Pick<Answer, 'text'>): Record<string, string>[] {
  const records: string[][] = [[]];
  for (const [, quoted, bare = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? bare);
    if (end === '\r\n') records.push([]);
  }
  const [columns = [], ...rows] = records.slice(0, -1);
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at] ?? ''])));
}

const columnsOf = ({ text }: Pick<Answer, 'text'>): string[] => text.split('\r\n', 1)[0]?.split(',') ?? [];
/** The target of `Link: <…>; rel="next"`. */
const nextOf = ({ headers }: Answer): string | undefined =>
  /^<([^>]+)>; rel="next"$/.exec(String(headers['link']))?.[1];

describe('format=csv', () => {
  it('is documented and answered by every list, with the fields of its items as columns', async () => {
    const made = await admin.post('keys', { accountId: harness.demo.accountId, name: 'all', scopes: SCOPES });
    const account = String(made.json['key']);
    await harness.create();
    const { text } = await harness.call('/v1/openapi.json', { key: null });
    const document = JSON.parse(text) as OpenAPIObject;
    const lists = operationsOf(document).filter(
      ({ path, operation }) =>
        path.startsWith('/v1/') &&
        parametersOf(operation).some(({ name, in: place }) => place === 'query' && name === 'startingAfter'),
    );
    expect(lists.length).toBeGreaterThan(15);
    for (const { path, operation } of lists) {
      expect([path, parametersOf(operation).map(({ name }) => name)]).toEqual([
        path,
        expect.arrayContaining(['format']) as unknown,
      ]);
      expect([path, Object.keys(Reflect.get(operation.responses['200'] ?? {}, 'content') as object)]).toEqual([
        path,
        ['application/json', 'text/csv'],
      ]);
      const key = path.startsWith('/v1/admin') ? admin.key : account;
      const json = await harness.call(`${path}?limit=100`, { key });
      const csv = await harness.call(`${path}?limit=100&format=csv`, { key });
      expect([path, csv.status, csv.headers['content-type']]).toEqual([path, 200, 'text/csv; charset=utf-8']);
      const data = dataOf(json);
      // A page of the audit log contains the entry of the read before.
      if (path !== '/v1/admin/audit') expect([path, rowsOf(csv).length]).toEqual([path, data.length]);
      expect([path, columnsOf(csv)]).toEqual([path, expect.arrayContaining(Object.keys(data[0] ?? {})) as unknown]);
    }
  });

  it('contains the same items as JSON, page by page', async () => {
    for (const orderId of ['1', '2', '3']) await harness.create({ metadata: { orderId, 7: '=1', __proto_: 'x' } });
    const all = dataOf(await harness.call('/v1/verify?limit=100'));
    const rows: Record<string, string>[] = [];
    let target: string | undefined = '/v1/verify?limit=2&format=csv';
    for (let pages = 0; target !== undefined && pages < 10; pages += 1) {
      const page: Answer = await harness.call(target);
      expect(page.headers['content-disposition']).toBe('attachment; filename="verify.csv"');
      rows.push(...rowsOf(page));
      target = nextOf(page);
    }
    expect(rows.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    for (const [at, row] of rows.entries()) {
      const { phone, createdAt, approvedAt, metadata, allowSmsOtp } = all[at] ?? {};
      expect(row).toMatchObject({ phone, createdAt, approvedAt: approvedAt ?? '' });
      expect(row).not.toHaveProperty('authEntropy');
      expect(JSON.parse(row['metadata'] ?? '')).toEqual(metadata);
      expect(allowSmsOtp).toBeUndefined();
    }
    const test = await harness.call('/v1/verify?format=csv', { key: harness.demo.testApiKey });
    expect(rowsOf(test)).toEqual([]);
    expect(columnsOf(test)).toContain('fallbackUri');
  });

  it('neutralises what a spreadsheet would run, and leaves phones as they are', async () => {
    const names = ['=HYPERLINK("http://x")', '+1+cmd|x', '-1', '@SUM(A1)', 'Acme, "Inc."'];
    for (const name of names) expect((await admin.post('accounts', { name })).status).toBe(201);
    const page = await admin.get('accounts?format=csv&limit=100');
    const shown = rowsOf(page).map(({ name }) => name);
    expect(shown).toEqual(expect.arrayContaining([...names.slice(0, 4).map((name) => `'${name}`), 'Acme, "Inc."']));
    expect(page.text).toContain('"Acme, ""Inc."""');
    await harness.create();
    expect(rowsOf(await harness.call('/v1/verify?format=csv&limit=1'))[0]?.['phone']).toBe(PHONE);
  });

  it('has the masks, the rights and the audit entries of JSON', async () => {
    await harness.create();
    const viewer = await admin.colleague('viewer', 'csv-viewer');
    const [masked] = rowsOf(await viewer.get('sessions?format=csv&limit=1'));
    expect(masked?.['phone']).toMatch(/^\+\d*\*+\d+$/);
    expect((await viewer.get(`sessions?format=csv&phone=${encodeURIComponent(PHONE)}`)).code).toBe('FORBIDDEN');
    const before = (await admin.notes('list')).length;
    const [whole] = rowsOf(await admin.get('sessions?format=csv&limit=1'));
    expect(whole?.['phone']).toBe(PHONE);
    expect((await admin.notes('list')).slice(before)).toMatchObject([{ action: 'read', resource: 'sessions' }]);
  });

  it('leads from page to page over the console too', async () => {
    for (const name of ['one', 'two']) await admin.post('accounts', { name });
    const browser = await ConsoleBrowser.withKey(harness, admin.key);
    const all = dataOf(await browser.call('v1/admin/accounts?limit=2'));
    const first = await browser.call('v1/admin/accounts?limit=1&format=csv');
    const [, next = ''] = /^\/console\/api\/(.+)$/.exec(nextOf(first) ?? '') ?? [];
    const second = await browser.call(next);
    expect([...rowsOf(first), ...rowsOf(second)].map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it('refuses another format, and answers errors in JSON', async () => {
    const wrong = await harness.call('/v1/verify?format=xml');
    expect([wrong.status, wrong.code, wrong.field]).toEqual([422, 'VALIDATION_ERROR', 'format']);
    const bad = await harness.call('/v1/verify?format=csv&limit=0');
    expect([bad.status, bad.field, bad.headers['content-type']]).toEqual([
      422,
      'limit',
      'application/json; charset=utf-8',
    ]);
    expect((await harness.call('/v1/verify?format=json')).headers['content-type']).toMatch(/^application\/json/);
  });
});
