import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ControlPlaneHarness, type Answer, type Call } from '../support/control-plane-harness.js';

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

const consume = (id: string, call: Call = {}): Promise<Answer> =>
  harness.call(`/v1/verify/${id}/consume`, { method: 'POST', ...call });

const created = async (): Promise<string> => String((await harness.create()).json['id']);

async function approved(): Promise<string> {
  const id = await created();
  await harness.approve(id);
  return id;
}

describe('POST /v1/verify/{id}/consume', () => {
  it('answers an approved session as GET does, once', async () => {
    const id = await approved();
    const session = (await harness.call(`/v1/verify/${id}`)).json;
    expect(await consume(id)).toMatchObject({ status: 200, json: session });
    expect(await consume(id)).toMatchObject({ status: 409, code: 'SESSION_CONSUMED' });
    expect((await harness.call(`/v1/verify/${id}`)).json).toEqual(session);
  });

  it.each([
    ['none', undefined],
    ['{}', '{}'],
    ['an empty one', ''],
  ])('takes no body: %s', async (_name, body) => {
    expect((await consume(await approved(), body === undefined ? {} : { body })).status).toBe(200);
  });

  it('succeeds for exactly one of many concurrent calls, at two control planes', async () => {
    const sibling = await harness.neighbour();
    try {
      for (let round = 0; round < 10; round++) {
        const id = await approved();
        const calls = Array.from({ length: 16 }, (_, at) =>
          consume(id, at % 2 === 0 ? {} : { baseUrl: sibling.baseUrl }),
        );
        const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
        expect(statuses).toEqual([200, ...Array<number>(15).fill(409)]);
      }
    } finally {
      await sibling.stop();
    }
  });

  it('refuses a session that is not approved, and names its state', async () => {
    const id = await created();
    const pending = await consume(id);
    expect(pending).toMatchObject({ status: 409, code: 'SESSION_NOT_APPROVED' });
    expect(pending.text).toContain('pending');
    await harness.call(`/v1/verify/${id}`, { method: 'DELETE' });
    expect((await consume(id)).text).toContain('cancelled');
    await harness.database.query(`UPDATE sessions SET status = 'denied' WHERE id = $1`, [parseId('sess', id)]);
    expect(await consume(id)).toMatchObject({ status: 409, code: 'SESSION_NOT_APPROVED' });
    const again = await created();
    await consume(again);
    await harness.approve(again);
    expect((await consume(again)).status).toBe(200);
  });

  it('does not find unknown, malformed, or expired sessions', async () => {
    expect(await consume('sess_00000000000000000000000000')).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(await consume('sess_nonsense')).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    const id = await created();
    await harness.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [parseId('sess', id)]);
    const expired = await consume(id);
    expect(expired).toMatchObject({ status: 404, code: 'SESSION_NOT_FOUND' });
    expect(expired.text).toContain('expired at');
  });
});
