import type { Uuid } from '@countersign/ids';
import type { InboundEvidence } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';
import { until } from '../support/until.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 10 });
});
afterAll(() => harness.close());

const evidenceOf = ({ id }: Session): InboundEvidence => ({
  tokens: [harness.tokenOf(id)],
  senders: [PHONE],
  trusted: true,
});

/** Number of transaction attempts. More attempts than transactions mean that a deadlock was resolved by a retry. */
let attempts = 0;

async function receive(evidence: readonly InboundEvidence[]): Promise<string[]> {
  const { verdicts } = await harness.database.transaction((tx) => {
    attempts += 1;
    return harness.sessions.matchInbound(tx, 'live', evidence);
  });
  return verdicts.map(({ fate }) => fate);
}

const sessionsOf = (count: number): Promise<Session[]> =>
  Promise.all(Array.from({ length: count }, () => harness.sessions.create(harness.draft())));

/** A deterministic permutation of the list: every `stride`-th item, modulo the length. */
function permuted<Item>(items: readonly Item[], stride: number): Item[] {
  const positionOf = new Map(items.map((_, at) => [(at * stride) % items.length, at]));
  if (positionOf.size !== items.length) throw new RangeError('the stride must share no factor with the length');
  return [...items.entries()]
    .sort(([one], [other]) => (positionOf.get(one) ?? 0) - (positionOf.get(other) ?? 0))
    .map(([, item]) => item);
}

function inBatches<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

const eventTypesOf = async (ids: readonly Uuid[]): Promise<Map<Uuid, string[]>> => {
  const rows = await harness.database.query<{ id: Uuid; types: string[] }>(
    `SELECT session_id AS id, array_agg(type) AS types FROM events WHERE session_id = ANY ($1) GROUP BY 1`,
    [ids],
  );
  return new Map(rows.map(({ id, types }) => [id, types]));
};

describe('a session whose approval commits after its end', () => {
  const clockIsPast = async (id: Uuid): Promise<boolean> => {
    const [row] = await harness.database.query<{ past: boolean }>(
      'SELECT clock_timestamp() > expires_at AS past FROM sessions WHERE id = $1',
      [id],
    );
    return row?.past === true;
  };
  const waiting = async (): Promise<boolean> =>
    (
      await harness.database.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      )
    ).length > 0;

  it.each(['find', 'list'] as const)('is never shown as expired before: %s', async (read) => {
    const session = await harness.sessions.create(harness.draft());
    await harness.database.query(
      `UPDATE sessions SET expires_at = clock_timestamp() + interval '2 seconds' WHERE id = $1`,
      [session.id],
    );
    const tenant = liveTenant(session.accountId);
    let shown: Promise<string | undefined> | undefined;
    await harness.database.transaction(async (tx) => {
      const { verdicts } = await harness.sessions.matchInbound(tx, 'live', [evidenceOf(session)]);
      expect(verdicts).toMatchObject([{ fate: 'matched' }]);
      await until('the session is past its end', 10_000, () => clockIsPast(session.id));
      let isShown = false;
      shown = (
        read === 'find'
          ? harness.sessions.find(tenant, session.id).then((found) => found?.status)
          : harness.sessions.list(tenant, { limit: 1 }).then(({ sessions: [first] }) => first?.status)
      ).finally(() => (isShown = true));
      await until('the read waits for the approval, or has not waited', 10_000, async () => isShown || waiting());
    });
    expect(await shown).toBe('approved');
  });
});

const ROUNDS = 5;
const STRIDES = [1, 7, 11, 13, 17];
const IN_FLIGHT = 8;

describe('500 sessions with five copies of each SMS', () => {
  it('are approved once each, with one event each, while all batches contend for their locks', async () => {
    const sessions = await sessionsOf(500);
    const messages = STRIDES.slice(0, ROUNDS).flatMap((stride) => permuted(sessions, stride));
    expect(messages).toHaveLength(2_500);
    const queue = permuted(inBatches(messages, 40), 11);
    const batches = queue.length;
    attempts = 0;
    const fates: string[] = [];
    const workers = Array.from({ length: IN_FLIGHT }, async () => {
      for (let batch = queue.pop(); batch !== undefined; batch = queue.pop()) {
        fates.push(...(await receive(batch.map(evidenceOf))));
      }
    });
    await Promise.all(workers);

    expect(attempts).toBe(batches);
    expect(fates.filter((fate) => fate === 'matched')).toHaveLength(500);
    expect(fates.filter((fate) => fate === 'duplicate')).toHaveLength(2_000);
    const ids = sessions.map(({ id }) => id);
    const found = await harness.sessions.findMany(harness.database, ids);
    expect(found.filter(({ status }) => status === 'approved')).toHaveLength(500);
    const types = await eventTypesOf(ids);
    expect(ids.map((id) => types.get(id))).toEqual(ids.map(() => ['verification.completed']));
  });
});

const EVENT_OF: Readonly<Record<string, string>> = {
  approved: 'verification.completed',
  cancelled: 'verification.cancelled',
  expired: 'verification.expired',
};

interface RaceOutcome {
  readonly id: Uuid;
  readonly fates: readonly string[];
  readonly cancelled: string;
}

/** Yields for this many turns of the event loop. */
async function yieldTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Time to the expiry when the race begins: 0, about the duration of the race, or longer. */
function timeLeftMs(round: number): number {
  if (round % 5 === 0) return 0;
  return round % 5 === 1 ? 1 + (round % 7) : 5_000;
}

/** Runs two copies of an SMS, a DELETE and the sweeper concurrently for one session; the order and its expiry vary. */
async function race(session: Session, round: number): Promise<RaceOutcome> {
  await harness.database.query(
    `UPDATE sessions SET expires_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $2) WHERE id = $1`,
    [session.id, timeLeftMs(round) / 1000],
  );
  const fates: string[] = [];
  let cancelled = '';
  const racers: (() => Promise<unknown>)[] = [
    async () => {
      await yieldTurns(round % 4);
      fates.push(...(await receive([evidenceOf(session)])));
    },
    async () => void (cancelled = await harness.sessions.cancel(liveTenant(session.accountId), session.id)),
    () => harness.sessions.expireDueSessions(100),
    async () => {
      await yieldTurns(round % 6);
      fates.push(...(await receive([evidenceOf(session)])));
    },
  ];
  await Promise.all(permuted([...racers.slice(round % 4), ...racers.slice(0, round % 4)], 3).map((racer) => racer()));
  return { id: session.id, fates, cancelled };
}

describe('200 races of an SMS, a DELETE and the expiry', () => {
  it('end in one terminal state with exactly one event each, and all results agree with it', async () => {
    const sessions = await sessionsOf(200);
    const outcomes: RaceOutcome[] = [];
    for (const [round, session] of sessions.entries()) outcomes.push(await race(session, round));
    // The sweeper ends the sessions that are still pending.
    await harness.database.query(`UPDATE sessions SET expires_at = created_at WHERE status = 'pending'`);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);

    const ids = sessions.map(({ id }) => id);
    const states = new Map(
      (await harness.sessions.findMany(harness.database, ids)).map(({ id, status }) => [id, status as string]),
    );
    const types = await eventTypesOf(ids);
    for (const { id, fates, cancelled } of outcomes) {
      const state = states.get(id) ?? 'gone';
      expect(types.get(id)).toEqual([EVENT_OF[state]]);
      expect(cancelled).toBe('done');
      expect(fates.filter((fate) => fate === 'matched')).toHaveLength(state === 'approved' ? 1 : 0);
      const possible = { approved: ['matched', 'duplicate'], cancelled: ['ended'], expired: ['expired'] }[state];
      expect(possible).toEqual(expect.arrayContaining([...fates]));
    }
    expect(new Set(states.values())).toEqual(new Set(['approved', 'cancelled', 'expired']));
  });
});
