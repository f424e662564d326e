import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
});
afterAll(() => harness.close());

const idsOf = async (query: string): Promise<unknown[]> =>
  dataOf(await admin.get(`sessions?${query}`)).map(({ id }) => id);

describe('sessions', () => {
  it('are shown as callers see them, with the fields for engineers, and neither token nor entropy', async () => {
    const made = await harness.create({ metadata: { order: '7', ['__proto__']: 'x' } });
    const id = String(made.json['id']);
    const { fallbackUri, ...session } = made.json;
    const more = { endedAt: null, approvedBy: null, country: 'US', allowSmsOtp: true };
    const pending = await admin.get(`sessions/${id}`);
    expect(pending.json).toEqual({
      ...session,
      ...more,
      inboundNumber: expect.stringMatching(/^\+?[0-9]+$/) as string,
      codesSent: 0,
      codesTried: 0,
      card: null,
    });
    await harness.approve(id);
    const approved = await admin.get(`sessions/${id}`);
    expect(approved.json).toMatchObject({ status: 'approved', approvedBy: 'mo' });
    expect(approved.json['endedAt']).toBe(approved.json['approvedAt']);
    for (const { text } of [pending, approved, await admin.get(`sessions?id=${id}`)]) {
      expect(text).not.toContain('authEntropy');
      expect(text).not.toContain('AUTH-');
      expect(text).not.toContain(String(fallbackUri));
    }
  });

  it('read expired once their time is over', async () => {
    const id = String((await harness.create()).json['id']);
    await harness.database.query(
      `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
       WHERE phone = $1 AND status = 'pending'`,
      [PHONE],
    );
    const { json } = await admin.get(`sessions/${id}`);
    expect(json).toMatchObject({ status: 'expired', approvedAt: null, endedAt: json['expiresAt'] });
  });

  it('of all accounts are found by phone and by id, newest first, page by page', async () => {
    const phone = '+14155550123';
    const ids: unknown[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await harness.create({ phone })).json['id']);
    expect(await idsOf(`phone=${encodeURIComponent(phone)}`)).toEqual(ids);
    expect(await idsOf(`phone=${phone}`)).toEqual(ids);
    expect((await idsOf('limit=3')).slice(0, 3)).toEqual(ids);
    const page = await admin.get(`sessions?phone=${phone}&limit=2`);
    expect([dataOf(page).length, page.json['hasMore']]).toEqual([2, true]);
    expect(await idsOf(`phone=${phone}&limit=2&startingAfter=${String(ids[1])}`)).toEqual([ids[2]]);
    expect(await idsOf(`id=${String(ids[1])}`)).toEqual([ids[1]]);
    expect(await idsOf(`id=${String(ids[1])}&phone=%2B14155550999`)).toEqual([]);
    expect(await idsOf('id=sess_00000000000000000000000000')).toEqual([]);
  });

  it.each([
    ['phone=14155550123', 'phone'],
    ['id=x', 'id'],
    ['limit=0', 'limit'],
    ['startingAfter=acct_00000000000000000000000000', 'startingAfter'],
    ['status=pending', 'status'],
  ])('are not listed with %s', async (query, field) => {
    const answer = await admin.get(`sessions?${query}`);
    expect([answer.status, answer.field]).toEqual([422, field]);
  });

  it('are readable with the admin key alone, and cannot be changed', async () => {
    const id = String((await harness.create()).json['id']);
    expect((await harness.call('/v1/admin/sessions')).code).toBe('FORBIDDEN');
    expect((await harness.call(`/v1/admin/sessions/${id}`, { key: null })).code).toBe('UNAUTHORIZED');
    expect((await admin.post('sessions', {})).status).toBe(405);
    expect((await admin.delete(`sessions/${id}`)).status).toBe(405);
    expect((await admin.get('sessions/sess_00000000000000000000000000')).code).toBe('NOT_FOUND');
  });
});
