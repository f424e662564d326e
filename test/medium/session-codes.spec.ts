import { randomInt } from 'node:crypto';
import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { GuardedWriteError, type CheckResult, type CodeReadiness, type ReadyForCode } from '@countersign/session';
import { codeLimit, type Session } from '@countersign/session/rules';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const CODE = '042137';
const WRONG = '999999';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ poolMax: 10 });
});
beforeEach(() => {
  harness.notifiedEventIds.length = 0;
});
afterAll(() => harness.close());

const createSession = (changes: Parameters<SessionHarness['draft']>[0] = {}): Promise<Session> =>
  harness.sessions.create(harness.draft(changes));

const prepareCode = (session: Session, accountId = session.accountId): Promise<CodeReadiness> =>
  harness.database.transaction((tx) => harness.sessions.prepareCode(tx, liveTenant(accountId), session.id));

async function readyForCode(tx: Executor, { accountId, id }: Session): Promise<ReadyForCode> {
  const readiness = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
  if (readiness.kind !== 'ready') throw new Error(`not ready: ${readiness.kind}`);
  return readiness;
}

const send = (session: Session, code = CODE): Promise<void> =>
  harness.database.transaction(async (tx) => harness.sessions.addCode(tx, await readyForCode(tx, session), code));

const check = ({ accountId, id }: Session, code: string): Promise<CheckResult> =>
  harness.sessions.checkCode(liveTenant(accountId), id, code);

/** Sets the expiry of a session to `leftMs` from now by the database clock. */
const setTimeLeft = (id: Uuid, leftMs: number): Promise<object[]> =>
  harness.database.query(
    `UPDATE sessions SET expires_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $2) WHERE id = $1`,
    [id, leftMs / 1000],
  );

interface CodeColumns {
  readonly status: string;
  readonly approvedBy: string | null;
  readonly digests: Buffer[] | null;
  readonly sends: number;
  readonly attempts: number;
}

const columnsOf = async (id: Uuid): Promise<CodeColumns> => {
  const [row] = await harness.database.query<CodeColumns>(
    `SELECT status, approved_by AS "approvedBy", otp_digests AS digests, otp_sends AS sends, otp_attempts AS attempts
     FROM sessions WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error('no such session');
  return row;
};

const eventsOf = async (id: Uuid): Promise<{ id: Uuid; type: string; data: string }[]> =>
  harness.database.query(`SELECT id, type, data::text AS data FROM events WHERE session_id = $1`, [id]);

describe('prepareCode', () => {
  it('locks a live session and returns its previous sends', async () => {
    const session = await createSession();
    expect(await prepareCode(session)).toMatchObject({ kind: 'ready', session, sends: 0, sentAt: null });
    await send(session);
    const again = await prepareCode(session);
    expect(again).toMatchObject({ kind: 'ready', session, sends: 1 });
    if (again.kind !== 'ready') throw new Error('not ready');
    expect(again.sentAt).not.toBeNull();
    expect(codeLimit(again)?.kind).toBe('cooldown');
  });

  it("does not find another account's session or an unknown id", async () => {
    const session = await createSession();
    expect(await prepareCode(session, harness.brand.id)).toEqual({ kind: 'not_found' });
    expect(await prepareCode({ ...session, id: harness.clock.newId() })).toEqual({ kind: 'not_found' });
  });

  it('returns the expiry of an expired session, swept or not, before it reports disabled codes', async () => {
    const session = await createSession({ allowSmsOtp: false });
    await setTimeLeft(session.id, 0);
    const unswept = await prepareCode(session);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(unswept).toEqual({ kind: 'expired', at: found?.expiresAt });
    expect(await prepareCode(session)).toEqual(unswept);
  });

  it('returns the status of an ended session', async () => {
    const session = await createSession();
    await harness.sessions.cancel(liveTenant(session.accountId), session.id);
    expect(await prepareCode(session)).toEqual({ kind: 'not_pending', status: 'cancelled' });
  });

  it('refuses a session with disabled codes', async () => {
    expect(await prepareCode(await createSession({ allowSmsOtp: false }))).toEqual({ kind: 'otp_disabled' });
  });
});

describe('addCode', () => {
  it('stores a keyed digest instead of the code', async () => {
    const session = await createSession();
    await send(session);
    const { digests, sends } = await columnsOf(session.id);
    expect(sends).toBe(1);
    expect(digests).toEqual([harness.keys.digest('otp-code', `${session.id}:${CODE}`)]);
  });

  it('is rolled back with its transaction', async () => {
    const session = await createSession();
    const failed = harness.database.transaction(async (tx) => {
      await harness.sessions.addCode(tx, await readyForCode(tx, session), CODE);
      throw new Error('the message could not be stored');
    });
    await expect(failed).rejects.toThrow('could not be stored');
    expect(await columnsOf(session.id)).toMatchObject({ sends: 0, digests: null });
  });

  it('never adds a fourth code, or a code on a stale read', async () => {
    const session = await createSession();
    const stale = await harness.database.transaction((tx) => readyForCode(tx, session));
    for (const code of ['000001', '000002', '000003']) await send(session, code);
    await expect(send(session, '000004')).rejects.toThrow(GuardedWriteError);
    const late = harness.database.transaction((tx) => harness.sessions.addCode(tx, stale, '000005'));
    await expect(late).rejects.toThrow(GuardedWriteError);
    expect((await columnsOf(session.id)).sends).toBe(3);
  });

  it('lets one of many concurrent sends add its code, and the others see the cooldown', async () => {
    const session = await createSession();
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, () =>
        harness.database.transaction(async (tx) => {
          const readiness = await readyForCode(tx, session);
          const limit = codeLimit(readiness);
          if (limit === null) await harness.sessions.addCode(tx, readiness, CODE);
          return limit?.kind ?? 'sent';
        }),
      ),
    );
    expect(outcomes.sort()).toEqual([...Array.from({ length: 15 }, () => 'cooldown'), 'sent']);
    expect((await columnsOf(session.id)).sends).toBe(1);
  });
});

describe('check', () => {
  it('approves on a sent code, with its event, and deletes all codes', async () => {
    const session = await createSession();
    await send(session);
    const result = await check(session, CODE);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(result).toEqual({ kind: 'approved', session: found });
    expect(found?.status).toBe('approved');
    expect(await columnsOf(session.id)).toMatchObject({ status: 'approved', approvedBy: 'otp', digests: null });
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event?.type).toBe('verification.completed');
    expect(event?.data).toBeNull();
    expect(harness.notifiedEventIds).toEqual([event?.id]);
  });

  it('accepts each of the sent codes', async () => {
    for (const code of ['000000', '000007', '912345']) {
      const session = await createSession();
      for (const each of ['000000', '000007', '912345']) await send(session, each);
      expect((await check(session, code)).kind).toBe('approved');
    }
  });

  it("does not accept another session's code", async () => {
    const [session, other] = await Promise.all([createSession(), createSession()]);
    await send(session, '111111');
    await send(other, '222222');
    expect(await check(session, '222222')).toEqual({ kind: 'wrong', attemptsRemaining: 4 });
  });

  it('counts wrong codes down to 0 attempts, and then refuses every code, including the right one', async () => {
    const session = await createSession();
    await send(session);
    for (const attemptsRemaining of [4, 3, 2, 1, 0]) {
      expect(await check(session, WRONG)).toEqual({ kind: 'wrong', attemptsRemaining });
    }
    const refused = await check(session, CODE);
    expect(refused.kind).toBe('too_many');
    const { retryAfterSeconds } = refused.kind === 'too_many' ? refused : { retryAfterSeconds: 0 };
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(retryAfterSeconds).toBeLessThanOrEqual(90);
    expect(await columnsOf(session.id)).toMatchObject({ status: 'pending', attempts: 5 });
  });

  it('gets no further attempts with another code, but an SMS still approves the session', async () => {
    const session = await createSession();
    await send(session);
    for (let attempt = 0; attempt < 5; attempt += 1) await check(session, WRONG);
    await send(session, '123456');
    expect((await check(session, '123456')).kind).toBe('too_many');
    const { verdicts } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [
        { tokens: [harness.tokenOf(session.id)], senders: [session.phone], trusted: true },
      ]),
    );
    expect(verdicts.map(({ fate }) => fate)).toEqual(['matched']);
  });

  it('accepts the right code in the fifth attempt', async () => {
    const session = await createSession();
    await send(session);
    for (let attempt = 0; attempt < 4; attempt += 1) await check(session, WRONG);
    expect((await check(session, CODE)).kind).toBe('approved');
  });

  it('counts no attempt before a code was sent', async () => {
    const session = await createSession();
    expect(await check(session, CODE)).toEqual({ kind: 'not_sent' });
    expect((await columnsOf(session.id)).attempts).toBe(0);
  });

  it('counts no attempt on a foreign, unknown or ended session, or on one with disabled codes', async () => {
    const session = await createSession();
    await send(session);
    expect(await harness.sessions.checkCode(liveTenant(harness.brand.id), session.id, CODE)).toEqual({
      kind: 'not_found',
    });
    expect(await check({ ...session, id: harness.clock.newId() }, CODE)).toEqual({ kind: 'not_found' });
    expect(await check(await createSession({ allowSmsOtp: false }), CODE)).toEqual({ kind: 'otp_disabled' });
    await setTimeLeft(session.id, 0);
    const expired = await check(session, CODE);
    expect(expired.kind).toBe('expired');
    expect(await columnsOf(session.id)).toMatchObject({ status: 'pending', attempts: 0 });
    await harness.sessions.cancel(liveTenant(session.accountId), session.id);
    const cancelled = await createSession();
    await send(cancelled);
    await harness.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    expect(await check(cancelled, CODE)).toEqual({ kind: 'not_pending', status: 'cancelled' });
    expect(await columnsOf(cancelled.id)).toMatchObject({ attempts: 0, digests: null });
  });

  it('handles concurrent checks of one session in their order, separately for each account', async () => {
    const session = await createSession();
    await send(session);
    const foreign = { ...session, accountId: harness.brand.id };
    const targets = [foreign, session, session, foreign, session, session, session] as const;
    const codes = [CODE, WRONG, WRONG, CODE, CODE, CODE, WRONG];
    const results = await Promise.all(targets.map((each, at) => check(each, codes[at] ?? '')));
    const unknown = { kind: 'not_found' };
    const ended = { kind: 'not_pending', status: 'approved' };
    expect(results).toMatchObject([
      unknown,
      { kind: 'wrong', attemptsRemaining: 4 },
      { kind: 'wrong', attemptsRemaining: 3 },
      unknown,
      { kind: 'approved' },
      ended,
      ended,
    ]);
  });

  it('handles concurrent checks of many sessions separately', async () => {
    const sessions = await Promise.all(Array.from({ length: 60 }, () => createSession()));
    const codes = sessions.map(() => String(randomInt(1_000_000)).padStart(6, '0'));
    await Promise.all(sessions.map((session, at) => send(session, codes[at])));
    const results = await Promise.all(
      sessions.map((session, at) => {
        const code = codes[at] ?? '';
        return check(session, at % 3 === 0 ? code.replace(/^./, (digit) => String((Number(digit) + 1) % 10)) : code);
      }),
    );
    expect(results.map(({ kind }) => kind)).toEqual(sessions.map((_, at) => (at % 3 === 0 ? 'wrong' : 'approved')));
  });
});
