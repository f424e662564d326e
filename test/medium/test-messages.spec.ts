import { MAX_AN_HOUR, TestMessageStore, type TestMessageResult } from '@countersign/carriers/test-messages';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { refused, stolenConnection } from '../support/stolen-connection.js';

/** SQLSTATEs (PostgreSQL, appendix A). */
const CHECK_VIOLATION = '23514';
const NO_RIGHT = '42501';

const store = new TestMessageStore();
const MESSAGE = { phone: '+14155552671', source: '60606' };
const RESULT: TestMessageResult = {
  ...{ state: 'accepted', slot: 0, smscMessageId: 'x', error: null },
  ...{ sentAt: '2026-01-31T12:00:00.000Z', answeredAt: '2026-01-31T12:00:01.000Z' },
};
const REFUSED: TestMessageResult = { ...RESULT, state: 'refused', smscMessageId: null, error: 'ESME_RSYSERR' };

let harness: SessionHarness;
beforeAll(async () => {
  harness = await openSessionHarness();
});
afterAll(() => harness.close());
beforeEach(() => harness.database.query('DELETE FROM test_messages'));

const newId = () => harness.clock.newId();
const add = async (bindId: string) => {
  const id = newId();
  return { id, ...(await harness.database.transaction((tx) => store.add(tx, { id, bindId, ...MESSAGE }))) };
};
const age = (seconds: number) =>
  harness.database.query(`UPDATE test_messages SET created_at = created_at - make_interval(secs => $1)`, [seconds]);

describe('a test message', () => {
  it('is claimed once, by a gateway with its bind', async () => {
    const [bind, one, other] = [newId(), newId(), newId()];
    const { id } = await add(bind);
    expect(await store.claim(harness.database, one, [])).toEqual([]);
    expect(await store.claim(harness.database, one, [newId()])).toEqual([]);
    const claims = await Promise.all([one, other].map((gateway) => store.claim(harness.database, gateway, [bind])));
    expect(claims.flat()).toMatchObject([{ id, bindId: bind, ...MESSAGE }]);
  });

  it('is never claimed later than its time, nor after it was given up', async () => {
    const bind = newId();
    await add(bind);
    await age(11);
    expect(await store.claim(harness.database, newId(), [bind])).toEqual([]);
    const { id } = await add(bind);
    await store.giveUp(harness.database, id, REFUSED);
    expect(await store.claim(harness.database, newId(), [bind])).toEqual([]);
    expect(await store.findResult(harness.database, id)).toEqual(REFUSED);
  });

  it('that was claimed and answered is neither claimed nor answered again, nor sent to another phone, by a gateway’s role', async () => {
    const [bind, one] = [newId(), newId()];
    const { id } = await add(bind);
    await store.claim(harness.database, one, [bind]);
    await store.record(harness.database, id, one, RESULT);
    const stolen = await stolenConnection(harness.gatewayUrl);
    for (const set of ['gateway_id = NULL', 'gateway_id = gen_random_uuid()', 'result = NULL', `result = '{}'`])
      expect([set, await refused(stolen, `UPDATE test_messages SET ${set}`)]).toEqual([set, CHECK_VIOLATION]);
    for (const set of [`phone = '+8821'`, `source = 'X'`, 'created_at = now()'])
      expect([set, await refused(stolen, `UPDATE test_messages SET ${set}`)]).toEqual([set, NO_RIGHT]);
    await stolen.close();
    expect(await store.claim(harness.database, newId(), [bind])).toEqual([]);
  });

  it('has one result, of the gateway that claimed it, and then no phone', async () => {
    const [bind, one, other] = [newId(), newId(), newId()];
    const { id } = await add(bind);
    await store.claim(harness.database, one, [bind]);
    await store.record(harness.database, id, other, REFUSED);
    await store.giveUp(harness.database, id, REFUSED);
    expect(await store.findResult(harness.database, id)).toBeNull();
    await store.record(harness.database, id, one, RESULT);
    await store.record(harness.database, id, one, REFUSED);
    expect(await store.findResult(harness.database, id)).toEqual(RESULT);
    await store.erasePhone(harness.database, id);
    expect(await harness.database.query('SELECT phone FROM test_messages')).toEqual([{ phone: '' }]);
  });

  it('is one of so many in any hour, and its row is deleted after a day', async () => {
    for (let count = 0; count < MAX_AN_HOUR; count += 1) expect(await add(newId())).toMatchObject({ ok: true });
    const refused = await add(newId());
    expect(refused).toMatchObject({ ok: false });
    expect(refused.ok ? 0 : refused.retryAfterSeconds).toBeGreaterThan(3_500);
    await age(3_600);
    expect(await add(newId())).toMatchObject({ ok: true });
    await age(86_400 - 3_600);
    await add(newId());
    await store.purge(harness.database);
    const left = await harness.database.query('SELECT phone FROM test_messages ORDER BY created_at');
    expect(left).toEqual([{ phone: '' }, { phone: MESSAGE.phone }]);
  });

  it('whose stored result no gateway writes is of unknown fate', async () => {
    const { id } = await add(newId());
    await harness.database.query(`UPDATE test_messages SET result = '[7]'`);
    expect(await store.findResult(harness.database, id)).toMatchObject({ state: 'unanswered', slot: null });
  });
});
