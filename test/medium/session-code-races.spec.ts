import type { Uuid } from '@countersign/ids';
import { SessionStore, type CheckResult } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const CODE = '042137';

let harness: SessionHarness;
/** The store of another process on the same database, with its own batches. */
let otherProcess: SessionStore;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 10 });
  const { database, clock, keys } = harness;
  otherProcess = new SessionStore({ database, clock, keys, listener: { onEvents: () => undefined } });
});
afterAll(async () => {
  await otherProcess.drain();
  await harness.close();
});

const sessionsOf = (count: number): Promise<Session[]> =>
  Promise.all(Array.from({ length: count }, () => harness.sessions.create(harness.draft())));

async function send({ accountId, id }: Session, code = CODE): Promise<void> {
  await harness.database.transaction(async (tx) => {
    const ready = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
    if (ready.kind !== 'ready') throw new Error(`not ready: ${ready.kind}`);
    await harness.sessions.addCode(tx, ready, code);
  });
}

async function createWithCode(count: number): Promise<Session[]> {
  const sessions = await sessionsOf(count);
  await Promise.all(sessions.map((session) => send(session)));
  return sessions;
}

const check = (store: SessionStore, { accountId, id }: Session, code: string): Promise<CheckResult> =>
  store.checkCode(liveTenant(accountId), id, code);

/** Distinct wrong codes. */
const wrongCode = (at: number): string => String((Number(CODE) + 1 + at) % 1_000_000).padStart(6, '0');

interface Ending {
  readonly id: Uuid;
  readonly status: string;
  readonly approvedBy: string | null;
  readonly attempts: number;
  readonly digests: Buffer[] | null;
  readonly events: string[];
}

const endingsOf = async (sessions: readonly Session[]): Promise<Map<Uuid, Ending>> => {
  const rows = await harness.database.query<Ending>(
    `SELECT id, status, approved_by AS "approvedBy", otp_attempts AS attempts, otp_digests AS digests,
       ARRAY(SELECT type FROM events WHERE session_id = sessions.id) AS events
     FROM sessions WHERE id = ANY ($1)`,
    [sessions.map(({ id }) => id)],
  );
  return new Map(rows.map((row) => [row.id, row]));
};

describe('200 concurrent wrong codes', () => {
  it('use up five attempts over all processes, and then the right code is refused too', async () => {
    const [session] = await createWithCode(1);
    if (session === undefined) throw new Error('no session');
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        check(at % 2 === 0 ? harness.sessions : otherProcess, session, wrongCode(at)),
      ),
    );
    const remaining = results.flatMap((result) => (result.kind === 'wrong' ? [result.attemptsRemaining] : []));
    expect(remaining.sort()).toEqual([0, 1, 2, 3, 4]);
    expect(results.filter(({ kind }) => kind === 'too_many')).toHaveLength(195);
    expect((await check(otherProcess, session, CODE)).kind).toBe('too_many');
    expect((await endingsOf([session])).get(session.id)).toMatchObject({ status: 'pending', attempts: 5, events: [] });
  });

  it('with the right code among them approve once, or never if five attempts were used up before it', async () => {
    const sessions = await createWithCode(24);
    const rounds = await Promise.all(
      sessions.map((session, round) =>
        Promise.all(
          Array.from({ length: 8 }, (_, at) =>
            check(
              (round + at) % 2 === 0 ? harness.sessions : otherProcess,
              session,
              at === round % 8 ? CODE : wrongCode(at),
            ),
          ),
        ),
      ),
    );
    const endings = await endingsOf(sessions);
    for (const [round, results] of rounds.entries()) {
      const ending = endings.get(sessions[round]?.id ?? '');
      const kinds = results.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'approved')).toHaveLength(ending?.status === 'approved' ? 1 : 0);
      expect(kinds.filter((kind) => kind === 'wrong').length).toBeLessThanOrEqual(5);
      if (ending?.status === 'approved') {
        expect(ending).toMatchObject({ approvedBy: 'otp', digests: null, events: ['verification.completed'] });
      } else {
        expect(ending).toMatchObject({ status: 'pending', attempts: 5, events: [] });
        expect(kinds[round % 8]).toBe('too_many');
      }
    }
    expect([...endings.values()].some(({ status }) => status === 'approved')).toBe(true);
  });
});

describe('concurrent checks of many sessions in two processes', () => {
  it('count each attempt once, in any order and without a deadlock', async () => {
    const sessions = await createWithCode(150);
    const forward = sessions.map((session, at) => check(harness.sessions, session, wrongCode(at)));
    const backward = sessions.toReversed().map((session, at) => check(otherProcess, session, wrongCode(at)));
    const results = await Promise.all([...forward, ...backward]);
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(['wrong']));
    const attempts = [...(await endingsOf(sessions)).values()].map((ending) => ending.attempts);
    expect(attempts).toEqual(sessions.map(() => 2));
  });
});

const EVENT_OF: Readonly<Record<string, string>> = {
  approved: 'verification.completed',
  denied: 'verification.denied',
  cancelled: 'verification.cancelled',
  expired: 'verification.expired',
};

interface RaceOutcome {
  readonly session: Session;
  readonly checks: readonly CheckResult[];
  readonly fate: string;
  readonly denied: boolean;
}

async function yieldTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function receive(session: Session): Promise<string> {
  const { verdicts } = await harness.database.transaction((tx) =>
    harness.sessions.matchInbound(tx, 'live', [
      { tokens: [harness.tokenOf(session.id)], senders: [session.phone], trusted: true },
    ]),
  );
  return verdicts[0]?.fate ?? 'none';
}

async function deny({ id }: Session): Promise<boolean> {
  const { ended, eventIds } = await harness.database.transaction((tx) =>
    harness.sessions.applyCardDecision(tx, { mode: 'live', trigger: 'deny', approvedBy: null, ids: [id] }),
  );
  expect(eventIds).toHaveLength(ended.length);
  return ended.includes(id);
}

/** Runs two right codes, an SMS, a tap on Deny, a DELETE and the sweeper concurrently for one session; the first varies. */
async function race(session: Session, round: number): Promise<RaceOutcome> {
  // The session has expired, expires during the race, or stays live.
  const leftMs = [0, 2, 6, 5_000, 5_000, 5_000, 5_000][round % 7] ?? 0;
  await harness.database.query(
    `UPDATE sessions SET expires_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $2) WHERE id = $1`,
    [session.id, leftMs / 1000],
  );
  const first = round % 5;
  const turn = async (racer: number): Promise<void> => yieldTurns(racer === first ? 0 : 1 + ((round + racer) % 4));
  const [one, other, fate, denied] = await Promise.all([
    turn(0).then(() => check(harness.sessions, session, CODE)),
    turn(0).then(() => check(otherProcess, session, CODE)),
    turn(1).then(() => receive(session)),
    turn(2).then(() => deny(session)),
    turn(3).then(() => harness.sessions.cancel(liveTenant(session.accountId), session.id)),
    turn(4).then(() => harness.sessions.expireDueSessions(100)),
  ]);
  return { session, checks: [one, other], fate, denied };
}

describe('150 races of the right code, an SMS, a tap, a DELETE and the expiry', () => {
  it('end in one terminal state with exactly one event each, and all results agree with it', async () => {
    const sessions = await createWithCode(150);
    const outcomes: RaceOutcome[] = [];
    for (const [round, session] of sessions.entries()) outcomes.push(await race(session, round));
    while ((await harness.sessions.expireDueSessions(500)).live > 0);

    const endings = await endingsOf(sessions);
    const outcomesSeen = new Set<string>();
    for (const { session, checks, fate, denied } of outcomes) {
      const ending = endings.get(session.id);
      const { status = 'gone', approvedBy = null } = ending ?? {};
      outcomesSeen.add(approvedBy ?? status);
      expect(ending).toMatchObject({ digests: null, events: [EVENT_OF[status]] });
      const kinds = checks.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'approved')).toHaveLength(approvedBy === 'otp' ? 1 : 0);
      expect(fate === 'matched').toBe(approvedBy === 'mo');
      expect(denied).toBe(status === 'denied');
      for (const result of checks) {
        if (result.kind === 'approved') expect(result.session.status).toBe('approved');
        else if (status === 'expired') expect(result.kind).toBe('expired');
        else expect(result).toEqual({ kind: 'not_pending', status });
      }
    }
    expect(outcomesSeen).toEqual(new Set(['otp', 'mo', 'denied', 'cancelled', 'expired']));
  });
});
