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
  harness.told.length = 0;
});
afterAll(() => harness.close());

const opened = (changes: Parameters<SessionHarness['draft']>[0] = {}): Promise<Session> =>
  harness.sessions.create(harness.draft(changes));

const prepared = (session: Session, accountId = session.accountId): Promise<CodeReadiness> =>
  harness.database.transaction((tx) => harness.sessions.prepareCode(tx, liveTenant(accountId), session.id));

async function ready(tx: Executor, { accountId, id }: Session): Promise<ReadyForCode> {
  const readiness = await harness.sessions.prepareCode(tx, liveTenant(accountId), id);
  if (readiness.kind !== 'ready') throw new Error(`not ready: ${readiness.kind}`);
  return readiness;
}

const send = (session: Session, code = CODE): Promise<void> =>
  harness.database.transaction(async (tx) => harness.sessions.addCode(tx, await ready(tx, session), code));

const check = ({ accountId, id }: Session, code: string): Promise<CheckResult> =>
  harness.sessions.checkCode(liveTenant(accountId), id, code);

/** Moves a session's time: `leftMs` from now by the database's clock. */
const leave = (id: Uuid, leftMs: number): Promise<object[]> =>
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
  it('locks a live session and tells what was sent before', async () => {
    const session = await opened();
    expect(await prepared(session)).toMatchObject({ kind: 'ready', session, sends: 0, sentAt: null });
    await send(session);
    const again = await prepared(session);
    expect(again).toMatchObject({ kind: 'ready', session, sends: 1 });
    if (again.kind !== 'ready') throw new Error('not ready');
    expect(again.sentAt).not.toBeNull();
    expect(codeLimit(again)?.kind).toBe('cooldown');
  });

  it("does not know another account's session, nor one that never was", async () => {
    const session = await opened();
    expect(await prepared(session, harness.brand.id)).toEqual({ kind: 'not_found' });
    expect(await prepared({ ...session, id: harness.clock.newId() })).toEqual({ kind: 'not_found' });
  });

  it('says when an expired session expired, swept or not, before it says that codes are off', async () => {
    const session = await opened({ allowSmsOtp: false });
    await leave(session.id, 0);
    const unswept = await prepared(session);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(unswept).toEqual({ kind: 'expired', at: found?.expiresAt });
    expect(await prepared(session)).toEqual(unswept);
  });

  it('names the state of a session that has ended', async () => {
    const session = await opened();
    await harness.sessions.cancel(liveTenant(session.accountId), session.id);
    expect(await prepared(session)).toEqual({ kind: 'not_pending', status: 'cancelled' });
  });

  it('refuses where the session was made without codes', async () => {
    expect(await prepared(await opened({ allowSmsOtp: false }))).toEqual({ kind: 'otp_disabled' });
  });
});

describe('addCode', () => {
  it('stores a keyed digest and nothing of the code', async () => {
    const session = await opened();
    await send(session);
    const { digests, sends } = await columnsOf(session.id);
    expect(sends).toBe(1);
    expect(digests).toEqual([harness.keys.digest('otp-code', `${session.id}:${CODE}`)]);
  });

  it('is undone with its transaction', async () => {
    const session = await opened();
    const failed = harness.database.transaction(async (tx) => {
      await harness.sessions.addCode(tx, await ready(tx, session), CODE);
      throw new Error('the message could not be stored');
    });
    await expect(failed).rejects.toThrow('could not be stored');
    expect(await columnsOf(session.id)).toMatchObject({ sends: 0, digests: null });
  });

  it('never adds a fourth code, nor one on what was read before', async () => {
    const session = await opened();
    const stale = await harness.database.transaction((tx) => ready(tx, session));
    for (const code of ['000001', '000002', '000003']) await send(session, code);
    await expect(send(session, '000004')).rejects.toThrow(GuardedWriteError);
    const late = harness.database.transaction((tx) => harness.sessions.addCode(tx, stale, '000005'));
    await expect(late).rejects.toThrow(GuardedWriteError);
    expect((await columnsOf(session.id)).sends).toBe(3);
  });

  it('of many that send at once, all in their limits, one sends and the others see it', async () => {
    const session = await opened();
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, () =>
        harness.database.transaction(async (tx) => {
          const readiness = await ready(tx, session);
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
  it('approves on the code that was sent, with its event, and forgets every code', async () => {
    const session = await opened();
    await send(session);
    const result = await check(session, CODE);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(result).toEqual({ kind: 'approved', session: found });
    expect(found?.status).toBe('approved');
    expect(await columnsOf(session.id)).toMatchObject({ status: 'approved', approvedBy: 'otp', digests: null });
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event?.type).toBe('verification.completed');
    expect(event?.data).toBe(found === null ? '' : harness.renderer.bare(found));
    expect(harness.told).toEqual([event?.id]);
  });

  it('accepts any of the codes that were sent', async () => {
    for (const code of ['000000', '000007', '912345']) {
      const session = await opened();
      for (const each of ['000000', '000007', '912345']) await send(session, each);
      expect((await check(session, code)).kind).toBe('approved');
    }
  });

  it("does not accept another session's code", async () => {
    const [session, other] = await Promise.all([opened(), opened()]);
    await send(session, '111111');
    await send(other, '222222');
    expect(await check(session, '222222')).toEqual({ kind: 'wrong', attemptsRemaining: 4 });
  });

  it('counts wrong codes down to none, then looks at no code any more, the right one included', async () => {
    const session = await opened();
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

  it('is not refilled by another code, and the session stays open to an SMS', async () => {
    const session = await opened();
    await send(session);
    for (let attempt = 0; attempt < 5; attempt += 1) await check(session, WRONG);
    await send(session, '123456');
    expect((await check(session, '123456')).kind).toBe('too_many');
    const { verdicts } = await harness.database.transaction((tx) =>
      harness.sessions.matchInbound(tx, 'live', [
        { ref: 0, tokens: [harness.tokenOf(session.id)], senders: [session.phone], trusted: true },
      ]),
    );
    expect(verdicts.map(({ fate }) => fate)).toEqual(['matched']);
  });

  it('accepts the right code as the fifth', async () => {
    const session = await opened();
    await send(session);
    for (let attempt = 0; attempt < 4; attempt += 1) await check(session, WRONG);
    expect((await check(session, CODE)).kind).toBe('approved');
  });

  it('counts nothing before a code was sent', async () => {
    const session = await opened();
    expect(await check(session, CODE)).toEqual({ kind: 'not_sent' });
    expect((await columnsOf(session.id)).attempts).toBe(0);
  });

  it('counts nothing on a session that is foreign, unknown, over or without codes', async () => {
    const session = await opened();
    await send(session);
    expect(await harness.sessions.checkCode(liveTenant(harness.brand.id), session.id, CODE)).toEqual({
      kind: 'not_found',
    });
    expect(await check({ ...session, id: harness.clock.newId() }, CODE)).toEqual({ kind: 'not_found' });
    expect(await check(await opened({ allowSmsOtp: false }), CODE)).toEqual({ kind: 'otp_disabled' });
    await leave(session.id, 0);
    const expired = await check(session, CODE);
    expect(expired.kind).toBe('expired');
    expect(await columnsOf(session.id)).toMatchObject({ status: 'pending', attempts: 0 });
    await harness.sessions.cancel(liveTenant(session.accountId), session.id);
    const cancelled = await opened();
    await send(cancelled);
    await harness.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    expect(await check(cancelled, CODE)).toEqual({ kind: 'not_pending', status: 'cancelled' });
    expect(await columnsOf(cancelled.id)).toMatchObject({ attempts: 0, digests: null });
  });

  it('answers those of one moment to one session in their order, each account by itself', async () => {
    const session = await opened();
    await send(session);
    const foreign = { ...session, accountId: harness.brand.id };
    const asked = [foreign, session, session, foreign, session, session, session] as const;
    const codes = [CODE, WRONG, WRONG, CODE, CODE, CODE, WRONG];
    const results = await Promise.all(asked.map((each, at) => check(each, codes[at] ?? '')));
    const unknown = { kind: 'not_found' };
    const over = { kind: 'not_pending', status: 'approved' };
    expect(results).toMatchObject([
      unknown,
      { kind: 'wrong', attemptsRemaining: 4 },
      { kind: 'wrong', attemptsRemaining: 3 },
      unknown,
      { kind: 'approved' },
      over,
      over,
    ]);
  });

  it('answers many sessions of one moment each by itself', async () => {
    const sessions = await Promise.all(Array.from({ length: 60 }, () => opened()));
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
