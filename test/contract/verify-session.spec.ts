import { AccountStore } from '@countersign/accounts/accounts';
import { authEntropy } from '@countersign/session/tokens';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, ENTROPY_KEY, PHONE } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;
let foreignKey: string;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  const accounts = new AccountStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  const { account } = await accounts.createAccount(harness.database, { name: 'Other' });
  foreignKey = (await accounts.createApiKey(harness.database, { accountId: account.id, kind: 'live', name: 'k' })).key;
});
afterAll(() => harness.close());

const created = async (changes: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  String((await harness.create(changes)).json['id']);
const get = (id: string, key?: string) => harness.call(`/v1/verify/${id}`, key === undefined ? {} : { key });
const del = (id: string, call: object = {}) => harness.call(`/v1/verify/${id}`, { method: 'DELETE', ...call });

/** Moves a session's end into the past. */
async function expire(id: string): Promise<string> {
  const rows = await harness.database.query<{ expiresAt: Date }>(
    `UPDATE sessions SET created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'
     WHERE client_challenge = $1 RETURNING expires_at AS "expiresAt"`,
    [id],
  );
  return rows[0]?.expiresAt.toISOString() ?? '';
}

describe('GET /v1/verify/{id}', () => {
  it('answers the same Session as the create', async () => {
    const answer = await harness.create({ metadata: { a: 'b' } });
    expect(await get(String(answer.json['id']))).toMatchObject({ status: 200, text: answer.text });
  });

  it('shows the fields of an approval: approvedAt, latencyMs and authEntropy', async () => {
    const id = await created();
    await harness.approve(id);
    const { json } = await get(id);
    const { accountId, brandId } = harness.demo;
    expect(json).toMatchObject({
      status: 'approved',
      channel: 'sms_fallback',
      authEntropy: authEntropy(new Map([[1, ENTROPY_KEY]]), 1, { mode: 'live', phone: PHONE, accountId, brandId }),
    });
    const latencyMs = Date.parse(String(json['approvedAt'])) - Date.parse(String(json['createdAt']));
    expect(json['latencyMs']).toBe(latencyMs);
  });

  it('answers HEAD like GET, without the body', async () => {
    const answer = await harness.call(`/v1/verify/${await created()}`, { method: 'HEAD' });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  it('ignores a query', async () => {
    expect((await get(`${await created()}?x=1&y`)).status).toBe(200);
  });

  it.each([
    'sess_00000000000000000000000000',
    'sess_7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    'sess_8ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    'sess_',
    'sess',
    'x',
    '%00',
    '%F0%9F%98%80',
    'sess_' + 'A'.repeat(5_000),
    'acct_00000000000000000000000000',
    "sess_'; DROP TABLE sessions; --",
    '..%2F..%2Fetc%2Fpasswd',
  ])('does not know %s', async (id) => {
    for (const answer of [await get(id), await del(id)]) {
      expect([answer.status, answer.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    }
  });

  it('does not know an id in lower case', async () => {
    expect((await get((await created()).toLowerCase())).code).toBe('SESSION_NOT_FOUND');
  });

  it('answers for another account’s session as for an unknown one', async () => {
    const id = await created();
    const foreign = await get(id, foreignKey);
    const unknown = await get('sess_00000000000000000000000000', foreignKey);
    expect(foreign).toMatchObject({ status: 404, text: unknown.text });
    expect(await del(id, { key: foreignKey })).toMatchObject({ status: 404, text: unknown.text });
    expect((await get(id)).json).toMatchObject({ status: 'pending' });
  });

  it('does not find an expired session, and says when it expired', async () => {
    const clientChallenge = '0e'.repeat(32);
    const id = await created({ clientChallenge });
    const expiresAt = await expire(clientChallenge);
    const answer = await get(id);
    expect([answer.status, answer.code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect(answer.json['error']).toMatchObject({ message: `This session expired at ${expiresAt}.` });
  });
});

describe('DELETE /v1/verify/{id}', () => {
  it('cancels, with 204 and no body, as often as it is asked', async () => {
    const id = await created();
    for (let times = 0; times < 3; times++) {
      const answer = await del(id);
      expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([204, '', undefined]);
    }
    expect((await get(id)).json).toMatchObject({ status: 'cancelled', approvedAt: null, latencyMs: null });
  });

  it('changes nothing on an approved session', async () => {
    const id = await created();
    await harness.approve(id);
    expect((await del(id)).status).toBe(204);
    expect((await get(id)).json).toMatchObject({ status: 'approved' });
  });

  it('is 204 for an own session that expired', async () => {
    const clientChallenge = '1e'.repeat(32);
    const id = await created({ clientChallenge });
    await expire(clientChallenge);
    expect((await del(id)).status).toBe(204);
    expect((await get(id)).code).toBe('SESSION_NOT_FOUND');
  });

  it('works with no body, an empty one and {}, with and without a Content-Type', async () => {
    for (const body of [undefined, '', '{}', ' { } ']) {
      for (const headers of [{}, { 'content-type': 'application/json' }]) {
        const id = await created();
        const call = body === undefined ? { headers } : { body, headers: { 'content-type': '', ...headers } };
        if (body !== undefined && !('content-type' in headers)) Reflect.deleteProperty(call.headers, 'content-type');
        expect((await del(id, call)).status, `${String(body)} ${JSON.stringify(headers)}`).toBe(204);
      }
    }
  });

  it('refuses a body with fields', async () => {
    const id = await created();
    const answer = await del(id, { body: { reason: 'x' } });
    expect([answer.status, answer.code, answer.field]).toEqual([422, 'VALIDATION_ERROR', 'reason']);
    expect((await del(id, { body: '[]' })).code).toBe('MALFORMED_REQUEST');
    expect((await get(id)).json).toMatchObject({ status: 'pending' });
  });
});

describe('expiry', () => {
  it('is written down within seconds, with its event', async () => {
    const clientChallenge = '2e'.repeat(32);
    await created({ clientChallenge });
    await expire(clientChallenge);
    const written = async () => {
      const [row] = await harness.database.query<{ status: string; events: number }>(
        `SELECT status, (SELECT count(*)::int FROM events WHERE session_id = sessions.id) AS events
         FROM sessions WHERE client_challenge = $1`,
        [clientChallenge],
      );
      return row;
    };
    // An hour ago is past what quick sweeps read: the next sweep of all times finds it.
    await expect.poll(written, { timeout: 30_000 }).toEqual({ status: 'expired', events: 1 });
  });
});
