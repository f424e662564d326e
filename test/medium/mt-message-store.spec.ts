import { CarrierStore, type MessageIdBase } from '@countersign/carriers/config';
import { MessageLog } from '@countersign/carriers/messages';
import { BindLeaseStore, type BindLease } from '@countersign/carriers/leases';
import {
  MtMessageStore,
  OutboundStore,
  receiptIdOf,
  type AttemptRecord,
  type ClaimedMessage,
  type MtPlan,
  type DueQuery,
  type PlannedAttempt,
} from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { firstIdAt, renderId, type Uuid } from '@countersign/ids';
import type { Session } from '@countersign/session/rules';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

const COUNT = 50;
/** Expired well before now, because a machine's clock may step back by a moment between two statements. */
const EXPIRED = `UPDATE bind_connections SET expires_at = clock_timestamp() - interval '1 minute'`;

let harness: SessionHarness;
let mtMessages: MtMessageStore;
let session: Session;
/** Lease of the connection that codes are sent over. */
let lease: BindLease;

beforeAll(async () => {
  harness = await openSessionHarness();
  mtMessages = new MtMessageStore(new EventStore(), harness.clock);
  const [account] = await harness.database.query<{ id: Uuid }>(
    `UPDATE accounts SET webhook_events = '{verification.otp_delivery}' RETURNING id`,
  );
  expect(account?.id).toBe(harness.account.id);
  session = await harness.sessions.create(harness.draft({ ttlSeconds: 300 }));
  const carriers = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
  await carriers.createBind(harness.database, {
    name: 'north',
    carrier: 'north',
    hosts: [{ host: '127.0.0.1', port: 2775 }],
    systemId: 'us',
    password: 'secret08',
  });
  lease = await claimLease();
});
afterAll(() => harness.close());
// Nobody renews the lease, and a busy machine needs longer for the file than it lasts.
beforeEach(async () => {
  await harness.database.query(`UPDATE bind_connections SET expires_at = clock_timestamp() + interval '15 seconds'`);
});
afterEach(async () => {
  for (const table of ['outbound_messages', 'submissions', 'events'])
    await harness.database.query(`DELETE FROM ${table}`);
});

/** Claims the only connection for a new gateway, after the expiry of any other lease. */
async function claimLease(): Promise<BindLease> {
  const store = new BindLeaseStore();
  const { slots } = await store.survey(harness.database);
  await harness.database.query(EXPIRED);
  const [claimed] = await store.claimSlots(harness.database, harness.clock.newId(), slots);
  if (claimed === undefined) throw new Error('the lease could not be claimed');
  return claimed;
}

async function queue(count: number, test = false): Promise<Uuid[]> {
  const store = new OutboundStore();
  const ids = Array.from({ length: count }, () => harness.clock.newId());
  const now = new Date(harness.clock.nowMs());
  await harness.database.transaction(async (tx) => {
    for (const id of ids) {
      await store.insert(tx, {
        id,
        sessionId: session.id,
        accountId: session.accountId,
        test,
        destination: PHONE,
        country: 'US',
        sender: '60606',
        textSealed: harness.keys.seal('message-text', 'code', id),
        createdAt: now,
        expiresAt: session.expiresAt,
      });
    }
  });
  return ids;
}

const duePoll = (limit = 100): DueQuery => ({
  limit,
  expiredLimit: 25,
  everyExpired: false,
  fromId: firstIdAt(0),
  beforeId: firstIdAt(harness.clock.nowMs() + 60_000),
  claimedBy: harness.clock.newId(),
  inFlight: [],
  mayTakeBack: true,
});
const north = (): PlannedAttempt => ({
  kind: 'send',
  routeId: session.id,
  link: lease,
  carrier: 'north',
  source: '60606',
  leaseSeconds: 30,
  submitOptions: {},
});
const claim = async (plan: () => MtPlan = north, limit?: number) => {
  await mtMessages.requeueLapsed(harness.database, duePoll(limit));
  return harness.database.transaction((tx) => mtMessages.claimDueMessages(tx, duePoll(limit), plan));
};
const submitted = (
  claimed: readonly ClaimedMessage[],
  idOf = (index: number): string | null => `id-${index}`,
  base: MessageIdBase = 'as-is',
) =>
  harness.database.transaction((tx) =>
    mtMessages.recordAttempts(
      tx,
      claimed.map(({ message: { id }, attempt, plan: { carrier, link } }, index) => {
        const smscMessageId = idOf(index);
        const receiptId = smscMessageId === null ? null : receiptIdOf(smscMessageId, base);
        return { id, attempt, carrier, link, outcome: { kind: 'submitted', smscMessageId, receiptId } };
      }),
    ),
  );
const receipt = (smscMessageId: string, state: 'delivered' | 'undelivered' = 'delivered') =>
  harness.database.transaction((tx) =>
    mtMessages.applyReceipts(tx, [
      { carrier: 'north', smscMessageId, state, networkError: state === 'delivered' ? null : '027' },
    ]),
  );
async function states(): Promise<Record<string, number>> {
  const rows = await harness.database.query<{ state: string; count: number }>(
    'SELECT state, count(*)::int AS count FROM outbound_messages GROUP BY state',
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}
const deliveryEvents = (): Promise<{ state: string; count: number; urls: number }[]> =>
  harness.database.query(
    `SELECT data->>'state' AS state, count(*)::int AS count, count(webhook_url)::int AS urls
     FROM events GROUP BY 1 ORDER BY 1`,
  );

describe('the attempts of a message', () => {
  const logOf = async (id: Uuid) => (await new MessageLog().find(harness.database, id))?.attemptLog ?? [];
  const record = (
    claimed: readonly ClaimedMessage[],
    made: Pick<AttemptRecord, 'outcome' | 'submittedAt' | 'answeredAt'>,
  ) =>
    harness.database.transaction((tx) =>
      mtMessages.recordAttempts(
        tx,
        claimed.map(({ message: { id }, attempt, plan: { carrier, link } }) => ({
          id,
          attempt,
          carrier,
          link,
          ...made,
        })),
      ),
    );
  const due = () => harness.database.query('UPDATE outbound_messages SET next_attempt_at = clock_timestamp()');

  it('are recorded with connection, times, status and id, in the order of the attempts', async () => {
    const [id = ''] = await queue(1);
    const query = duePoll();
    const at = (ms: number): Date => new Date(Math.floor(harness.clock.nowMs()) + ms);
    const first = await harness.database.transaction((tx) => mtMessages.claimDueMessages(tx, query, north));
    expect(await logOf(id)).toMatchObject([{ attempt: 1, outcome: null, submittedAt: null, answeredAt: null }]);
    const [submittedAt, answeredAt] = [at(-20), at(-5)];
    await record(first.claimed, { outcome: { kind: 'busy', error: 'ESME_RTHROTTLED' }, submittedAt, answeredAt });
    await due();
    await record((await claim()).claimed, { outcome: { kind: 'unknown', error: 'NO_ANSWER' }, submittedAt });
    await due();
    await record((await claim()).claimed, { outcome: { kind: 'busy', error: 'NOT_SENT' }, submittedAt });
    await due();
    await record((await claim()).claimed, { outcome: { kind: 'refused', error: 'ESME_RINVDSTADR' }, answeredAt });
    await due();
    await submitted((await claim()).claimed);
    const log = await logOf(id);
    const [bind] = await harness.database.query<{ id: Uuid }>('SELECT id FROM binds');
    const over = { linkKind: 'bind', linkId: bind?.id, linkName: 'north', slot: lease.slot, carrier: 'north' };
    const by = { gatewayId: query.claimedBy, routeId: session.id, source: '60606', smscMessageId: null };
    expect(log[0]).toMatchObject({ startedAt: expect.any(Date) as Date, submittedAt, answeredAt, ...over, ...by });
    expect(log.map(({ attempt, outcome, commandStatus, error }) => [attempt, outcome, commandStatus, error])).toEqual([
      [1, 'throttled', 'ESME_RTHROTTLED', null],
      [2, 'unanswered', null, 'NO_ANSWER'],
      [3, 'not_sent', null, 'NOT_SENT'],
      [4, 'refused', 'ESME_RINVDSTADR', null],
      [5, 'submitted', 'ESME_ROK', null],
    ]);
    expect(log[2]?.submittedAt).toBeNull();
    expect(log[4]).toMatchObject({ smscMessageId: 'id-0' });
  });

  it('whose gateway ended have an unknown result', async () => {
    const [id = ''] = await queue(1);
    await claim();
    await harness.database.query('UPDATE outbound_messages SET claimed_until = clock_timestamp()');
    await claim();
    expect((await logOf(id)).map(({ outcome }) => outcome)).toEqual(['unknown', null]);
  });

  it('stay bounded: the first and the latest', async () => {
    const [id = ''] = await queue(1);
    for (let attempt = 1; attempt <= 25; attempt += 1) {
      await record((await claim()).claimed, { outcome: { kind: 'busy', error: 'ESME_RMSGQFUL' } });
      await due();
    }
    const numbers = (await logOf(id)).map(({ attempt }) => attempt);
    expect(numbers).toEqual([1, ...Array.from({ length: 19 }, (_, index) => 7 + index)]);
  });

  it('in any form that the role of gateways can write delay no other message', async () => {
    const ids = await queue(5);
    // Strings compress, and numbers take more octets as jsonb than as text.
    const forms = [
      '[]',
      '[1]',
      '[{"n": {}, "bind": "x"}]',
      `[${'"x",'.repeat(39)}"${'y'.repeat(32_500)}"]`,
      `[[${'1,'.repeat(10_000)}1]]`,
    ];
    for (const [index, form] of forms.entries())
      await harness.database.query('UPDATE outbound_messages SET attempt_log = $2::jsonb WHERE id = $1', [
        ids[index],
        form,
      ]);
    const { claimed } = await claim();
    expect(claimed).toHaveLength(5);
    const rewrite = (id: Uuid | undefined, log: string) =>
      harness.database.query('UPDATE outbound_messages SET attempt_log = $2::jsonb WHERE id = $1', [id, log]);
    await rewrite(ids[0], '[null, "x"]');
    await rewrite(ids[1], `[{"n": 1, "carrier": "${'y'.repeat(32_600)}"}]`);
    expect(await submitted(claimed)).toHaveLength(5);
    expect((await Promise.all(ids.map(logOf))).map((log) => log.map(({ outcome }) => outcome))).toEqual([
      [],
      [],
      ['submitted'],
      ['submitted'],
      ['submitted'],
    ]);
  });
});

describe('a claim', () => {
  it('is held by one gateway, with any number of concurrent claims', async () => {
    const ids = await queue(COUNT);
    const claims = await Promise.all(Array.from({ length: 6 }, () => claim(north, 20)));
    const claimed = claims.flatMap((each) => each.claimed.map(({ message: { id } }) => id));
    expect(new Set(claimed).size).toBe(claimed.length);
    const rest = await claim();
    expect([...claimed, ...rest.claimed.map(({ message: { id } }) => id)].sort()).toEqual([...ids].sort());
    expect((await claim()).due).toBe(0);
  });

  it('skips messages of test keys', async () => {
    await queue(3, true);
    expect((await claim()).due).toBe(0);
  });

  it('that has expired cannot be recorded, except for the receipt', async () => {
    await queue(1);
    const { claimed: lapsed } = await claim();
    await harness.database.query(`UPDATE outbound_messages SET claimed_until = clock_timestamp()`);
    const { claimed: again } = await claim();
    expect(again).toMatchObject([{ attempt: 2, message: { unknownFates: 1 } }]);
    expect(await submitted(lapsed)).toEqual([]);
    expect(await states()).toEqual({ sending: 1 });
    expect(await submitted(again, () => 'second')).toHaveLength(1);
    expect(await states()).toEqual({ submitted: 1 });
  });

  it('that fails creates an event at once, and keeps no text', async () => {
    const [id = ''] = await queue(1);
    const { eventIds } = await claim(() => ({ kind: 'fail', error: 'EXPIRED' }));
    expect(eventIds).toHaveLength(1);
    const [row] = await harness.database.query<{ data: string; text: Buffer | null }>(
      `SELECT data::text AS data, text_sealed AS text FROM events, outbound_messages`,
    );
    const messageId = renderId('msg', id);
    expect(JSON.parse(row?.data ?? '')).toEqual({
      sessionId: renderId('sess', session.id),
      messageId,
      state: 'failed',
      networkError: 'EXPIRED',
    });
    expect(row?.text).toBe(null);
  });
});

describe('a response and its receipt', () => {
  it('are joined in either order, with one event each', async () => {
    await queue(COUNT);
    const { claimed } = await claim();
    const early = claimed.slice(0, 10).map((_, index) => receipt(`id-${index}`));
    expect((await Promise.all(early)).map(({ results }) => results)).toEqual(early.map(() => ['parked']));
    // The others run concurrently, each with several copies of one receipt.
    const late = claimed.flatMap((_, index) => [receipt(`id-${index}`), receipt(`ID-${index}`)]);
    await Promise.all([submitted(claimed), ...late]);
    expect(await states()).toEqual({ delivered: COUNT });
    expect(await deliveryEvents()).toEqual([
      { state: 'delivered', count: COUNT, urls: COUNT },
      { state: 'submitted', count: COUNT, urls: COUNT },
    ]);
  });

  it('recorded twice, after the result of a commit was lost, change nothing', async () => {
    await queue(3);
    const { claimed } = await claim();
    await receipt('id-0', 'undelivered');
    expect(await submitted(claimed)).toHaveLength(4);
    expect(await submitted(claimed)).toEqual([]);
    expect(await states()).toEqual({ submitted: 2, undelivered: 1 });
    expect((await receipt('id-0')).results).toEqual(['late']);
    expect((await receipt('id-1')).results).toEqual(['settled']);
    expect((await receipt('id-1')).results).toEqual(['late']);
  });

  it('of a carrier that restarts its ids belong to the newer message', async () => {
    for (const state of ['delivered', 'undelivered'] as const) {
      await queue(1);
      await submitted((await claim()).claimed, () => '00000001');
      expect((await receipt('1', state)).results).toEqual(['settled']);
    }
    expect(await states()).toEqual({ delivered: 1, undelivered: 1 });
  });

  it('are not joined when the receipt is too old', async () => {
    await receipt('id-0');
    await harness.database.query(`UPDATE submissions SET updated_at = clock_timestamp() - interval '11 minutes'`);
    await queue(1);
    await submitted((await claim()).claimed);
    expect(await states()).toEqual({ submitted: 1 });
  });

  it('are joined after days', async () => {
    await queue(1);
    await submitted((await claim()).claimed);
    await harness.database.query(`UPDATE submissions SET updated_at = updated_at - interval '95 hours'`);
    expect(await mtMessages.purgeOld(harness.database)).toBe(0);
    expect((await receipt('id-0')).results).toEqual(['settled']);
  });

  it('are joined when the receipt has the id in another base, in either order', async () => {
    await queue(2);
    const { claimed } = await claim();
    expect((await receipt('255')).results).toEqual(['parked']);
    await submitted(claimed, (index) => ['FF', '0100'][index] ?? null, 'hex-to-dec');
    expect((await receipt('00256')).results).toEqual(['settled']);
    expect(await states()).toEqual({ delivered: 2 });
  });

  it('are deleted: unmatched receipts after ten minutes, the rest after four days', async () => {
    await queue(1);
    await submitted((await claim()).claimed);
    await receipt('nobody');
    expect(await mtMessages.countParkedReceipts(harness.database)).toBe(1);
    const age = (by: string): Promise<unknown> =>
      harness.database.query(`UPDATE submissions SET updated_at = updated_at - interval '${by}'`);
    await age('11 minutes');
    expect([await mtMessages.purgeOrphans(harness.database), await mtMessages.purgeOld(harness.database)]).toEqual([
      1, 0,
    ]);
    await age('4 days');
    expect([await mtMessages.purgeOrphans(harness.database), await mtMessages.purgeOld(harness.database)]).toEqual([
      0, 1,
    ]);
  });
});

describe('a message of a test key', () => {
  it('takes each requested step once', async () => {
    const [id = ''] = await queue(1, true);
    const act = (to: 'submitted' | 'delivered' | 'undelivered') =>
      harness.database.transaction((tx) => mtMessages.applyTestSteps(tx, [{ id, to, networkError: null }]));
    expect(await act('delivered')).toEqual([]);
    expect(await act('submitted')).toHaveLength(1);
    expect(await act('submitted')).toEqual([]);
    expect(await act('undelivered')).toHaveLength(1);
    expect(await act('delivered')).toEqual([]);
    expect(await states()).toEqual({ undelivered: 1 });
    expect(await deliveryEvents()).toMatchObject([{ state: 'submitted' }, { state: 'undelivered' }]);
  });
});

describe('a gateway whose lease was lost unnoticed', () => {
  /** Another gateway holds the lease. */
  const TAKEN = 'UPDATE bind_connections SET owner = bind_id, epoch = epoch + 1';
  afterEach(async () => {
    lease = await claimLease();
  });

  it.each([TAKEN, EXPIRED])('claims nothing: %s', async (loss) => {
    const [id] = await queue(1);
    await harness.database.query(loss);
    expect((await claim()).claimed).toEqual([]);
    expect(await states()).toEqual({ queued: 1 });
    lease = await claimLease();
    expect((await claim()).claimed).toMatchObject([{ message: { id }, attempt: 1 }]);
  });

  it.each([TAKEN, EXPIRED])('records what the carrier answered all the same: %s', async (loss) => {
    await queue(1);
    const { claimed } = await claim();
    await harness.database.query(loss);
    expect(await submitted(claimed)).toHaveLength(1);
    expect(await states()).toEqual({ submitted: 1 });
  });

  it('can always record that a message was not sent', async () => {
    await queue(1);
    const { claimed } = await claim();
    await harness.database.query(TAKEN);
    await harness.database.transaction((tx) =>
      mtMessages.recordAttempts(
        tx,
        claimed.map(({ message: { id }, attempt, plan: { carrier } }) => {
          return { id, attempt, carrier, link: lease, outcome: { kind: 'busy', error: 'NOT_SENT' } };
        }),
      ),
    );
    expect(await states()).toEqual({ queued: 1 });
  });
});
