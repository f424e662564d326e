import { OutboundStore } from '@countersign/carriers/outbound';
import { parseId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE, type Answer } from '../support/control-plane-harness.js';
import { startReceiver, type Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const GONE = 410;
/** A relay polls every 2 s; the rest is for a busy machine. */
const SOON_MS = 20_000;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let receiver: Receiver;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await harness.close();
});

const approved = async (): Promise<string> => {
  const id = String((await harness.create({ webhookUrl: receiver.url })).json['id']);
  await harness.approve(id);
  return id;
};
const counts = async (name: string): Promise<unknown> => (await admin.get(`queues/${name}`)).json['counts'];
const came = (id: string): boolean => receiver.eventIdsOf(id).length > 0;

/** A waiting code, for which there is no bind. */
async function waiting(changes: string): Promise<string> {
  const { id: sessionId } = (await harness.create()).json;
  const id = harness.clock.newId();
  const createdAt = new Date(harness.clock.nowMs() - 5_000);
  await new OutboundStore().insert(harness.database, {
    id,
    sessionId: parseId('sess', String(sessionId)) ?? '',
    accountId: parseId('acct', harness.demo.accountId) ?? '',
    test: false,
    destination: PHONE,
    country: 'US',
    sender: '60606',
    textSealed: harness.keys.seal('message-text', 'secret', id),
    createdAt,
    expiresAt: new Date(harness.clock.nowMs() + 60_000),
  });
  await harness.database.query(`UPDATE outbound_messages SET ${changes} WHERE id = $1`, [id]);
  return id;
}

describe('the queues', () => {
  it('are three, with their waiting entries', async () => {
    const empty = {
      paused: false,
      pausedAt: null,
      counts: { waiting: 0, inFlight: 0, failed: 0 },
      oldestAgeSeconds: null,
    };
    const page = await admin.get('queues');
    expect(page.json).toEqual({
      data: [
        { name: 'webhooks', ...empty },
        { name: 'outbound', ...empty },
        { name: 'cards', ...empty },
      ],
      hasMore: false,
    });
    expect((await admin.get('queues/outbound')).json).toEqual({ name: 'outbound', ...empty });
  });

  it('are paged like every list', async () => {
    expect((await admin.get('queues?limit=1')).json).toMatchObject({ data: [{ name: 'webhooks' }], hasMore: true });
    const second = await admin.get('queues?limit=1&startingAfter=webhooks');
    expect(second.json).toMatchObject({ data: [{ name: 'outbound' }], hasMore: true });
    expect((await admin.get('queues?startingAfter=x')).field).toBe('startingAfter');
    expect((await admin.get('queues?limit=0')).field).toBe('limit');
  });

  it.each(['x', 'WEBHOOKS', 'toString', '%00', 'queue_00000000000000000000000000'])(
    'have none named %s',
    async (name) => {
      for (const answer of [await admin.get(`queues/${name}`), await admin.post(`queues/${name}/pause`)]) {
        expect([answer.status, answer.code]).toEqual([404, 'NOT_FOUND']);
      }
    },
  );

  it('are for the admin key alone', async () => {
    expect((await harness.call('/v1/admin/queues')).code).toBe('FORBIDDEN');
    expect((await harness.call('/v1/admin/queues/webhooks/pause', { method: 'POST' })).code).toBe('FORBIDDEN');
    expect((await admin.post('queues', {})).status).toBe(405);
  });
});

describe('webhooks that are paused', () => {
  it('wait, in every process, until they are resumed', async () => {
    const paused = await admin.post('queues/webhooks/pause');
    expect([paused.status, paused.json]).toEqual([202, expect.objectContaining({ name: 'webhooks', paused: true })]);
    const stopNeighbour = await harness.beside();
    const id = await approved();
    await until(
      'it is due',
      SOON_MS,
      async () => (await admin.get('queues/webhooks')).json['oldestAgeSeconds'] !== null,
    );
    // Longer than the interval of any relay.
    await until(
      'it is late',
      SOON_MS,
      async () => Number((await admin.get('queues/webhooks')).json['oldestAgeSeconds']) > 3,
    );
    expect(await counts('webhooks')).toEqual({ waiting: 1, inFlight: 0, failed: 0 });
    expect(came(id)).toBe(false);
    const resumed = await admin.post('queues/webhooks/resume');
    expect([resumed.status, resumed.json]).toEqual([202, expect.objectContaining({ paused: false, pausedAt: null })]);
    await until('it came', SOON_MS, () => came(id));
    await stopNeighbour();
    expect(receiver.eventIdsOf(id)).toHaveLength(1);
  });

  it('stay paused since the first request; the audit log has one entry', async () => {
    const before = (await admin.notes('webhooks')).length;
    const first = await admin.post('queues/webhooks/pause');
    expect((await admin.post('queues/webhooks/pause')).json).toEqual(first.json);
    await admin.post('queues/webhooks/resume');
    await admin.post('queues/webhooks/resume');
    const entries = (await admin.notes('webhooks')).slice(before);
    expect(entries).toMatchObject([
      { action: 'pause', resource: 'queues', before: { paused: false }, after: { name: 'webhooks', paused: true } },
      { action: 'resume', before: { paused: true }, after: { name: 'webhooks', paused: false } },
    ]);
  });
});

describe('what failed', () => {
  const retry = (name: string): Promise<Answer> => admin.post(`queues/${name}/retry-failed`);

  it('of the webhooks begins its schedule anew, and how many did is written down', async () => {
    receiver.answerWith(GONE);
    const id = await approved();
    await until('it is given up', SOON_MS, async () => {
      const { failed } = (await counts('webhooks')) as { failed: number };
      return failed === 1;
    });
    // After the last attempt of a schedule, so that one more would exceed it.
    await harness.database.query(
      `UPDATE deliveries SET attempts = (SELECT jsonb_agg(first) FROM
         (SELECT attempts -> 0 AS first FROM generate_series(1, 10)) AS ten) WHERE status = 'failed'`,
    );
    receiver.answerWith(500);
    const answer = await retry('webhooks');
    expect([answer.status, answer.json]).toMatchObject([202, { name: 'webhooks', retried: 1, counts: { failed: 0 } }]);
    const deliveries = () =>
      harness.database.query(
        `SELECT status, jsonb_array_length(attempts) AS attempts FROM deliveries WHERE session_id = $1`,
        [parseId('sess', id)],
      );
    await expect.poll(deliveries, { timeout: SOON_MS }).toEqual([{ status: 'succeeded', attempts: 12 }]);
    expect((await admin.notes('webhooks')).at(-1)).toMatchObject({ action: 'retry-failed', after: { retried: 1 } });
    expect((await retry('webhooks')).json['retried']).toBe(0);
  });

  it('of the codes goes to every route again; abandoned codes are not retried', async () => {
    const tried = await waiting(
      `attempts = 2, next_attempt_at = now() + interval '1 minute', refused_routes = ARRAY[id], busy_routes = ARRAY[id]`,
    );
    await waiting(`attempts = 0`);
    await waiting(`state = 'failed', next_attempt_at = NULL, text_sealed = NULL, network_error = 'x'`);
    const answer = await retry('outbound');
    expect([answer.status, answer.json]).toMatchObject([
      202,
      { name: 'outbound', retried: 1, counts: { waiting: 2, inFlight: 0, failed: 1 } },
    ]);
    expect(Number(answer.json['oldestAgeSeconds'])).toBeGreaterThanOrEqual(5);
    const [row] = await harness.database.query(
      `SELECT next_attempt_at <= clock_timestamp() AS due, refused_routes AS refused, busy_routes AS busy
       FROM outbound_messages WHERE id = $1`,
      [tried],
    );
    expect(row).toEqual({ due: true, refused: [], busy: [] });
  });

  it('of an unknown queue is not found', async () => {
    expect((await retry('x')).code).toBe('NOT_FOUND');
    expect(dataOf(await admin.get('audit?resource=queues&resourceId=x'))).toEqual([]);
  });
});
