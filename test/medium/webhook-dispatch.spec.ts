import { showsSession } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { judgeAttempt } from '../../apps/control-plane/src/webhooks/attempt.js';
import {
  ClaimFailed,
  LEASE_SECONDS,
  type ClaimedDelivery,
} from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { EventRefused } from '../../apps/control-plane/src/events/event-fault.js';
import { asOwner } from '../support/database.js';
import { type DeliveryWorker, deliveryWorkerOf } from '../support/delivery-store.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const HOST = 'acme.example';
const URL_OF_SESSION = `https://${HOST}/hook`;
const CAPACITY_FOR_ALL = {
  fullHosts: [],
  fullAccounts: [],
  capacityFor: () => 100,
  capacityForAccount: () => 100,
};

let harness: SessionHarness;
let unreadable: unknown[];

beforeAll(async () => {
  harness = await openSessionHarness();
  await harness.database.query(`UPDATE accounts SET webhook_events = '{verification.cancelled}'`);
});
afterAll(() => harness.close());
afterEach(async () => {
  for (const table of ['deliveries', 'events']) await harness.database.query(`DELETE FROM ${table}`);
  await harness.database.query(`UPDATE queue_switches SET paused_at = NULL`);
});

function worker(): DeliveryWorker {
  unreadable = [];
  return deliveryWorkerOf(harness, (error) => unreadable.push(error instanceof EventRefused ? error.eventId : error));
}

/** Cancels sessions; resolves with the ids of their events. */
async function cancelSessions(count: number): Promise<Uuid[]> {
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
  it('is claimed as it is created if its host has capacity, with its body and a lease', async () => {
    const [one, other] = [worker(), worker()];
    const [id = ''] = await cancelSessions(1);
    const { dispatched, claimed, leftOver } = await one.dispatchNamed([id], () => 5);
    expect([dispatched, idsOf(claimed), leftOver]).toEqual([1, [id], []]);
    const [delivery] = claimed;
    if (delivery === undefined) throw new Error('no delivery was claimed');
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
    expect((await other.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed).toEqual([]);
    expect(await one.store.recordAttempt(delivery, SUCCESS)).toBe(true);
    expect(await harness.database.query(`SELECT status, jsonb_array_length(attempts) AS made FROM deliveries`)).toEqual(
      [{ status: 'succeeded', made: 1 }],
    );
  });

  it('is claimed with the same octets by another process after its own has died', async () => {
    const [doomed, other] = [worker(), worker()];
    const ids = await cancelSessions(1);
    const { claimed } = await doomed.dispatchNamed(ids, () => 5);
    await harness.database.query(
      `UPDATE deliveries SET claimed_until = claimed_until - interval '1 minute',
         next_attempt_at = next_attempt_at - interval '1 minute'`,
    );
    const claimedAgain = await other.store.claimDueDeliveries(CAPACITY_FOR_ALL);
    expect(claimedAgain.claimed.map(({ id, body }) => ({ id, body }))).toEqual(
      claimed.map(({ id, body }) => ({ id, body })),
    );
  });

  it('beyond the capacity of its host stays due, and the host is reported', async () => {
    const one = worker();
    const ids = await cancelSessions(5);
    const { claimed, leftOver } = await one.dispatchNamed(ids, (host) => (host === HOST ? 2 : 0));
    expect([claimed.length, leftOver]).toEqual([2, [HOST]]);
    const rest = await one.store.claimDueDeliveries(CAPACITY_FOR_ALL);
    expect(idsOf([...claimed, ...rest.claimed])).toEqual([...ids].sort());
  });

  it('beyond the capacity of its account stays due, and deliveries of other accounts are claimed past it', async () => {
    const one = worker();
    const ids = await cancelSessions(5);
    const { claimed, leftOver } = await one.dispatchNamed(
      ids,
      () => 5,
      () => 2,
    );
    expect([claimed.length, leftOver]).toEqual([2, []]);
    const limited = await one.store.claimDueDeliveries({ ...CAPACITY_FOR_ALL, capacityForAccount: () => 1 });
    expect(limited.claimed).toHaveLength(1);
    const { account: other } = await harness.accounts.createAccount(harness.database, { name: 'Other' });
    const ofOther = [other.id, [...ids].sort().at(-1)];
    await harness.database.query(
      `UPDATE deliveries SET account_id = $1 WHERE claimed_until IS NULL AND id = $2`,
      ofOther,
    );
    await harness.database.query(
      `WITH event AS (UPDATE events SET account_id = $1 WHERE id = $2 RETURNING session_id, webhook_url)
       UPDATE sessions SET account_id = $1, webhook_url = event.webhook_url FROM event WHERE sessions.id = event.session_id`,
      ofOther,
    );
    const past = await one.store.claimDueDeliveries({
      ...CAPACITY_FOR_ALL,
      fullAccounts: [{ accountId: harness.account.id, test: false }],
    });
    expect(past.claimed.map(({ accountId }) => accountId)).toEqual([other.id]);
    const rest = await one.store.claimDueDeliveries(CAPACITY_FOR_ALL);
    expect(idsOf([...claimed, ...limited.claimed, ...past.claimed, ...rest.claimed])).toEqual([...ids].sort());
  });

  it('is not claimed while the queue is paused', async () => {
    const one = worker();
    const ids = await cancelSessions(2);
    await harness.database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'webhooks'`);
    expect(await one.dispatchNamed(ids, () => 5)).toEqual({ dispatched: 2, claimed: [], leftOver: [] });
    expect((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed).toEqual([]);
    await harness.database.query(`UPDATE queue_switches SET paused_at = NULL`);
    expect(idsOf((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed)).toEqual([...ids].sort());
  });

  it('whose body cannot be rendered keeps its lease without an attempt, and does not affect other deliveries', async () => {
    const one = worker();
    const [unreadableId = '', readableId = ''] = await cancelSessions(2);
    await harness.database.query(
      `UPDATE sessions SET created_at = 'infinity' WHERE id = (SELECT session_id FROM events WHERE id = $1)`,
      [unreadableId],
    );
    const { claimed } = await one.dispatchNamed([unreadableId, readableId], () => 5);
    expect([idsOf(claimed), unreadable]).toEqual([[readableId], [expect.any(Error)]]);
    const [row] = await harness.database.query(
      `SELECT claimed_until > now() AS leased, body_sealed AS sealed FROM deliveries WHERE id = $1`,
      [unreadableId],
    );
    expect(row).toEqual({ leased: true, sealed: null });
  });

  it('whose body cannot be read for two days is blocked, and holds up no other', async () => {
    const one = worker();
    const [oldId = '', youngId = '', soundId = ''] = await cancelSessions(3);
    await one.dispatchNamed([oldId, youngId, soundId]);
    const damage = `UPDATE deliveries SET body_sealed = 'x', occurred_at = occurred_at - $2::interval WHERE id = $1`;
    await harness.database.query(damage, [oldId, '49 hours']);
    await harness.database.query(damage, [youngId, '1 hour']);
    expect(idsOf((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed)).toEqual([soundId]);
    const rows = await harness.database.query<{ id: Uuid; status: string }>(
      'SELECT id, status FROM deliveries WHERE id = ANY ($1) ORDER BY status',
      [[oldId, youngId]],
    );
    expect(rows).toEqual([
      { id: oldId, status: 'blocked' },
      { id: youngId, status: 'pending' },
    ]);
  });

  it('that contradicts its session is not created, or ends as blocked when that is found later', async () => {
    const one = worker();
    const [early = '', late = '', sound = ''] = await cancelSessions(3);
    await harness.database.query(`UPDATE events SET webhook_url = 'https://evil.example/' WHERE id = ANY ($1)`, [
      [early, late],
    ]);
    expect(idsOf((await one.dispatchNamed([early], () => 5)).claimed)).toEqual([]);
    expect(unreadable).toEqual([early]);
    await one.dispatchNamed([late, sound]);
    expect(idsOf((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed)).toEqual([sound]);
    expect(unreadable).toEqual([early, late]);
    const rows = await harness.database.query<{ id: Uuid }>(
      `SELECT id, status, next_attempt_at AS due, body_sealed AS body FROM deliveries WHERE id <> $1`,
      [sound],
    );
    expect(rows).toEqual([{ id: late, status: 'blocked', due: null, body: null }]);
    expect((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed).toEqual([]);
    expect(unreadable).toEqual([early, late]);
  });

  it('goes to the URL that its account had at any time since the session was created, and to no earlier one', async () => {
    const one = worker();
    const setDefault = (url: string): Promise<unknown> =>
      harness.database.query(`UPDATE accounts SET default_webhook_url = $1`, [url]);
    const cancelled = async (): Promise<Uuid> => {
      const { id, accountId } = await harness.sessions.create(harness.draft());
      harness.notifiedEventIds.length = 0;
      await harness.sessions.cancel(liveTenant(accountId), id);
      return harness.notifiedEventIds[0] ?? '';
    };
    const urls = [0, 1, 2].map((n) => `https://${HOST}/${n}`) as [string, string, string];
    await setDefault(urls[0]);
    await setDefault(urls[1]);
    const [right, wrong] = [await cancelled(), await cancelled()];
    await harness.database.query(`UPDATE events SET webhook_url = $2 WHERE id = $1`, [wrong, urls[0]]);
    await setDefault(urls[2]);
    await one.dispatchNamed([right, wrong]);
    const { claimed } = await one.store.claimDueDeliveries(CAPACITY_FOR_ALL);
    expect(claimed.map(({ id, url }) => [id, url])).toEqual([[right, urls[1]]]);
    expect(unreadable).toEqual([wrong]);
    await harness.database.query(`UPDATE accounts SET default_webhook_url = NULL`);
  });

  it.each([
    ['is refused by the database', 'P0001'],
    ['exceeds the time of a statement', '57014'],
  ])('whose claim %s waits alone: the others are claimed', async (_why, state) => {
    const one = worker();
    const ids = (await cancelSessions(9)).sort();
    await one.dispatchNamed(ids);
    const [failing = ''] = ids.slice(4);
    await asOwner(
      harness,
      `CREATE FUNCTION fail_claim() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'fails' USING ERRCODE = '${state}'; END $$`,
    );
    await asOwner(
      harness,
      `CREATE TRIGGER fail_claim BEFORE UPDATE ON deliveries FOR EACH ROW
       WHEN (NEW.claimed_until IS NOT NULL AND NEW.id = '${failing}') EXECUTE FUNCTION fail_claim()`,
    );
    const claimed: Uuid[] = [];
    let failed = 0;
    // As the dispatcher does: a claim that failed is followed by another one at once.
    for (let tries = 0; tries < 30; tries += 1) {
      try {
        claimed.push(...idsOf((await one.store.claimDueDeliveries(CAPACITY_FOR_ALL)).claimed));
      } catch (error) {
        expect(error).toBeInstanceOf(ClaimFailed);
        failed += 1;
      }
    }
    expect(claimed.sort()).toEqual(ids.filter((id) => id !== failing));
    expect(failed).toBeLessThan(9);
    const inPause = `next_attempt_at > now() + interval '4 minutes' AND claimed_until IS NULL`;
    expect(
      await harness.database.query(`SELECT id, status FROM deliveries WHERE status = 'pending' AND ${inPause}`),
    ).toEqual([{ id: failing, status: 'pending' }]);
    await asOwner(harness, 'DROP FUNCTION fail_claim CASCADE');
  });

  it('is created and claimed by one of many processes that dispatch its event at once', async () => {
    const ids = await cancelSessions(20);
    const workers = Array.from({ length: 4 }, () => worker());
    const made = await Promise.all(workers.map((each) => each.dispatchNamed(ids, () => 20)));
    expect(idsOf(made.flatMap(({ claimed }) => claimed))).toEqual([...ids].sort());
    expect(made.reduce((sum, { dispatched }) => sum + dispatched, 0)).toBe(20);
  });
});
