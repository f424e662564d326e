import { AccountStore } from '@countersign/accounts/accounts';
import { parseId, renderId } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';

const OTHER_PHONE = '+447911123456';
const UNKNOWN_ID = 'sess_00000000000000000000000000';

let harness: ControlPlaneHarness;
let stranger: { key: string; accountId: string; brandId: string };

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  stranger = await newStranger();
});
afterAll(() => harness.close());
afterEach(() => harness.database.query('DELETE FROM sessions'));

/** Another account with a brand and a key of its own. */
async function newStranger(): Promise<{ key: string; accountId: string; brandId: string }> {
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  return harness.database.transaction(async (tx) => {
    const { account } = await accounts.createAccount(tx, { name: 'Other' });
    const accountId = account.id;
    const brand = await accounts.createBrand(tx, {
      accountId,
      name: 'Other',
      slug: 'OTHER',
      instruction: 'Send this message.',
      entropyKeyVersion: 1,
    });
    const { key } = await accounts.createApiKey(tx, { accountId, kind: 'live', name: 'k' });
    return { key, accountId: renderId('acct', accountId), brandId: renderId('brd', brand.id) };
  });
}

const list = (query = '', key?: string): Promise<Answer> =>
  harness.call(`/v1/verify${query}`, key === undefined ? {} : { key });

async function created(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return String((await harness.create(changes)).json['id']);
}

/** Ids in the order of their creation, oldest first: ids of one millisecond have no order. */
async function createdInTurn(count: number, changes: Readonly<Record<string, unknown>> = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push(await created(changes));
  return ids.sort();
}

function idsOf(answer: Answer): string[] {
  expect(answer.status).toBe(200);
  return (answer.json['data'] as { id: string }[]).map(({ id }) => id);
}

/** Moves the end of sessions into the past, as if the time had passed without a sweep. */
async function passTime(id: string): Promise<void> {
  await harness.database.query(
    `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
     WHERE id = $1`,
    [parseId('sess', id)],
  );
}

describe('GET /v1/verify', () => {
  it('is an empty page where there is nothing', async () => {
    expect(await list()).toMatchObject({ status: 200, text: '{"data":[],"hasMore":false}' });
  });

  it('lists Sessions as GET gives them, newest first', async () => {
    const ids = await createdInTurn(3, { metadata: { b: '1', 2: '2', 1: '3' } });
    const answer = await list();
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const newestFirst = ids.toReversed();
    const each = await Promise.all(newestFirst.map((id) => harness.call(`/v1/verify/${id}`)));
    expect(answer.text).toBe(`{"data":[${each.map(({ text }) => text).join(',')}],"hasMore":false}`);
  });

  it('omits authEntropy', async () => {
    const id = await created();
    await harness.approve(id);
    const { authEntropy, ...rest } = (await harness.call(`/v1/verify/${id}`)).json;
    expect(authEntropy).toMatch(/^[0-9a-f]{64}$/);
    expect((await list()).json).toEqual({ data: [rest], hasMore: false });
  });

  it('gives 20 a page where no limit is asked for', async () => {
    const ids = await createdInTurn(21);
    const answer = await list();
    expect([idsOf(answer), answer.json['hasMore']]).toEqual([ids.toReversed().slice(0, 20), true]);
  });

  it.each([1, 2, 4, 5, 100])('pages by %d through all, each once', async (limit) => {
    const ids = await createdInTurn(5);
    const seen: string[] = [];
    for (let more = true; more;) {
      const last = seen.at(-1);
      const answer = await list(`?limit=${limit}${last === undefined ? '' : `&startingAfter=${last}`}`);
      const page = idsOf(answer);
      expect(page.length).toBeGreaterThan(0);
      seen.push(...page);
      more = answer.json['hasMore'] === true;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  it('filters by phone, its plus sign escaped or not', async () => {
    await created();
    const id = await created({ phone: OTHER_PHONE });
    for (const phone of [encodeURIComponent(OTHER_PHONE), OTHER_PHONE]) {
      expect(idsOf(await list(`?phone=${phone}`))).toEqual([id]);
    }
    expect(idsOf(await list('?phone=%2B15005550001'))).toEqual([]);
  });

  it('filters by status', async () => {
    const approved = await created();
    await harness.approve(approved);
    const cancelled = await created();
    await harness.call(`/v1/verify/${cancelled}`, { method: 'DELETE' });
    const pending = await created();
    expect(idsOf(await list('?status=approved'))).toEqual([approved]);
    expect(idsOf(await list('?status=cancelled'))).toEqual([cancelled]);
    expect(idsOf(await list('?status=pending'))).toEqual([pending]);
    expect(idsOf(await list('?status=denied'))).toEqual([]);
    expect(idsOf(await list(`?status=pending&phone=${encodeURIComponent(PHONE)}&limit=1`))).toEqual([pending]);
  });

  it('shows a pending session past its time as expired, whether or not that was written down', async () => {
    const id = await created();
    await passTime(id);
    expect((await list()).json).toMatchObject({ data: [{ id, status: 'expired' }] });
    expect(idsOf(await list('?status=expired'))).toEqual([id]);
    expect(idsOf(await list('?status=pending'))).toEqual([]);
  });

  it('goes on after a session that has expired or ended since', async () => {
    const [oldest = '', middle = ''] = await createdInTurn(3);
    await passTime(middle);
    expect(idsOf(await list(`?startingAfter=${middle}`))).toEqual([oldest]);
  });

  it('shows nothing of another account', async () => {
    const own = await created();
    const { accountId, brandId, key } = stranger;
    const foreign = String((await harness.create({ accountId, brandId }, { key })).json['id']);
    expect(idsOf(await list())).toEqual([own]);
    expect(idsOf(await list('', key))).toEqual([foreign]);
    expect(idsOf(await list(`?phone=${encodeURIComponent(PHONE)}`, key))).toEqual([foreign]);
    const begun = await list(`?startingAfter=${own}`, key);
    const unknown = await list(`?startingAfter=${UNKNOWN_ID}`, key);
    expect(begun).toMatchObject({ status: 422, text: unknown.text });
  });
});

describe('a listing is refused', () => {
  it.each([
    ['status=open', 'VALIDATION_ERROR', 'status'],
    ['status=', 'VALIDATION_ERROR', 'status'],
    ['status=PENDING', 'VALIDATION_ERROR', 'status'],
    ['status=pending&status=denied', 'VALIDATION_ERROR', 'status'],
    ['phone=4155552671', 'INVALID_PHONE', 'phone'],
    ['phone=', 'INVALID_PHONE', 'phone'],
    ['phone=%2B1415555267%00', 'INVALID_PHONE', 'phone'],
    ['limit=0', 'VALIDATION_ERROR', 'limit'],
    ['limit=101', 'VALIDATION_ERROR', 'limit'],
    ['limit=-1', 'VALIDATION_ERROR', 'limit'],
    ['limit=1.5', 'VALIDATION_ERROR', 'limit'],
    ['limit=1e1', 'VALIDATION_ERROR', 'limit'],
    ['limit=010', 'VALIDATION_ERROR', 'limit'],
    ['limit=', 'VALIDATION_ERROR', 'limit'],
    ['limit=ten', 'VALIDATION_ERROR', 'limit'],
    [`startingAfter=${UNKNOWN_ID}`, 'VALIDATION_ERROR', 'startingAfter'],
    ['startingAfter=sess_x', 'VALIDATION_ERROR', 'startingAfter'],
    ['startingAfter=', 'VALIDATION_ERROR', 'startingAfter'],
    ['offset=3', 'VALIDATION_ERROR', 'offset'],
    ['__proto__=x', 'VALIDATION_ERROR', '__proto__'],
    ['limit=0&status=open', 'VALIDATION_ERROR', 'status'],
  ])('for ?%s', async (query, code, field) => {
    expect(await list(`?${query}`)).toMatchObject({ status: 422, code, field });
  });

  it('without the scope verify', async () => {
    const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
    const accountId = parseId('acct', harness.demo.accountId) ?? '';
    const { key } = await accounts.createApiKey(harness.database, {
      accountId,
      kind: 'live',
      name: 'usage alone',
      scopes: ['usage'],
    });
    expect(await list('', key)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});
