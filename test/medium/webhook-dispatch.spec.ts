import { showsSession } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { judgeAttempt } from '../../apps/control-plane/src/webhooks/attempt.js';
import {
  LEASE_SECONDS,
  type ClaimedDelivery,
  type DeliveryStore,
} from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { deliveryStoreOf } from '../support/delivery-store.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const HOST = 'acme.example';
const URL_OF_SESSION = `https://${HOST}/hook`;
const ROOM_FOR_ALL = { fullHosts: [], roomFor: () => 100 };

let harness: SessionHarness;
let unreadable: Uuid[];

beforeAll(async () => {
  harness = await openSessionHarness();
  await harness.database.query(`UPDATE accounts SET webhook_events = '{verification.cancelled}'`);
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['deliveries', 'events']) await harness.database.query(`DELETE FROM ${table}`);
  await harness.database.query(`UPDATE queue_switches SET paused_at = NULL`);
});

/** What moves webhooks in one process. */
function worker(): DeliveryStore {
  unreadable = [];
  return deliveryStoreOf(harness, (id) => unreadable.push(id));
}

/** Events of sessions that were cancelled just now: their ids. */
async function cancelled(count: number): Promise<Uuid[]> {
  harness.notifiedEventIds.length = 0;
  for (let made = 0; made < count; made += 1) {
    const { id, accountId } = await harness.sessions.create(harness.draft({ webhookUrl: URL_OF_SESSION }));
    await harness.sessions.cancel(liveTenant(accountId), id);
  }
  return [...harness.notifiedEventIds];
}

const idsOf = (deliveries: readonly ClaimedDelivery[]): Uuid[] => deliveries.map(({ id }) => id).sort();

const SUCCESS = judgeAttempt(
  {
    result: { kind: 'answered', status: 200, retryAfter: null },
    number: 1,
    startedMs: Date.now(),
    endedMs: Date.now(),
    beside: null,
  },
  0.5,
);

describe('a delivery of a new event', () => {
  it('for which there is room is claimed as it is made, with its body and a lease', async () => {
    const [one, other] = [worker(), worker()];
    const [id = ''] = await cancelled(1);
    const { taken, claimed, leftOver } = await one.dispatchNamed([id], () => 5);
    expect([taken, idsOf(claimed), leftOver]).toEqual([1, [id], []]);
    const [delivery] = claimed;
    if (delivery === undefined) throw new Error('nothing was claimed');
    const body = JSON.parse(delivery.body) as { type: string; data: { status: string } };
    expect(showsSession(body.type)).toBe(true);
    expect(body).toMatchObject({ type: 'verification.cancelled', data: { status: 'cancelled' } });
    expect(delivery).toMatchObject({ url: URL_OF_SESSION, attemptsMade: 0, beside: null });
    const [row] = await harness.database.query(
      `SELECT status, claimed_until = next_attempt_at AS leased, body_sealed IS NOT NULL AS sealed,
         claimed_until BETWEEN now() + make_interval(secs => $1 - 5) AND now() + make_interval(secs => $1) AS in_time
       FROM deliveries`,
      [LEASE_SECONDS],
    );
    expect(row).toEqual({ status: 'pending', leased: true, sealed: true, in_time: true });
    expect((await other.claim(ROOM_FOR_ALL)).claimed).toEqual([]);
    expect(await one.record(delivery, SUCCESS)).toBe(true);
    expect(await harness.database.query(`SELECT status, jsonb_array_length(attempts) AS made FROM deliveries`)).toEqual(
      [{ status: 'succeeded', made: 1 }],
    );
  });

  it('is sent in the same octets by whoever finds it after its process has died', async () => {
    const [doomed, other] = [worker(), worker()];
    const ids = await cancelled(1);
    const { claimed } = await doomed.dispatchNamed(ids, () => 5);
    await harness.database.query(
      `UPDATE deliveries SET claimed_until = claimed_until - interval '1 minute',
         next_attempt_at = next_attempt_at - interval '1 minute'`,
    );
    const again = await other.claim(ROOM_FOR_ALL);
    expect(again.claimed.map(({ id, body }) => ({ id, body }))).toEqual(claimed.map(({ id, body }) => ({ id, body })));
  });

  it('beyond the room of its host waits, due at once, and the host is named', async () => {
    const one = worker();
    const ids = await cancelled(5);
    const { claimed, leftOver } = await one.dispatchNamed(ids, (host) => (host === HOST ? 2 : 0));
    expect([claimed.length, leftOver]).toEqual([2, [HOST]]);
    const rest = await one.claim(ROOM_FOR_ALL);
    expect(idsOf([...claimed, ...rest.claimed])).toEqual([...ids].sort());
  });

  it('is claimed by nobody while the queue is paused', async () => {
    const one = worker();
    const ids = await cancelled(2);
    await harness.database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'webhooks'`);
    expect(await one.dispatchNamed(ids, () => 5)).toEqual({ taken: 2, claimed: [], leftOver: [] });
    expect((await one.claim(ROOM_FOR_ALL)).claimed).toEqual([]);
    await harness.database.query(`UPDATE queue_switches SET paused_at = NULL`);
    expect(idsOf((await one.claim(ROOM_FOR_ALL)).claimed)).toEqual([...ids].sort());
  });

  it('whose body cannot be made keeps its lease untried, and keeps no other from being made', async () => {
    const one = worker();
    const [gone = '', well = ''] = await cancelled(2);
    await harness.database.query(`DELETE FROM sessions WHERE id = (SELECT session_id FROM events WHERE id = $1)`, [
      gone,
    ]);
    const { claimed } = await one.dispatchNamed([gone, well], () => 5);
    expect([idsOf(claimed), unreadable]).toEqual([[well], [gone]]);
    const [row] = await harness.database.query(
      `SELECT claimed_until > now() AS leased, body_sealed AS sealed FROM deliveries WHERE id = $1`,
      [gone],
    );
    expect(row).toEqual({ leased: true, sealed: null });
  });

  it('is made by one of many that take its event at once, and claimed by that one alone', async () => {
    const ids = await cancelled(20);
    const workers = Array.from({ length: 4 }, () => worker());
    const made = await Promise.all(workers.map((each) => each.dispatchNamed(ids, () => 20)));
    expect(idsOf(made.flatMap(({ claimed }) => claimed))).toEqual([...ids].sort());
    expect(made.reduce((sum, { taken }) => sum + taken, 0)).toBe(20);
  });
});
