import { parseId, type Uuid } from '@countersign/ids';
import { TransactionConflict, type Database } from '@countersign/postgres';
import { SessionStore, type InboundEvidence } from '@countersign/session';
import type { InboundVerdict, Session } from '@countersign/session/rules';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, STRANGER, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 3 });
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.notifiedEventIds.length = 0;
});

interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string | null;
  readonly webhookUrl: string | null;
  readonly occurredAt: Date;
}

const eventsOf = (sessionId: Uuid): Promise<StoredEvent[]> =>
  harness.database.query<StoredEvent>(
    `SELECT id, type, data::text AS data, webhook_url AS "webhookUrl", occurred_at AS "occurredAt"
     FROM events WHERE session_id = $1 ORDER BY id`,
    [sessionId],
  );

const rowOf = async (id: Uuid): Promise<{ status: string; approvedBy: string | null; endedAt: Date | null }> => {
  const [row] = await harness.database.query<{ status: string; approvedBy: string | null; endedAt: Date | null }>(
    `SELECT status, approved_by AS "approvedBy", ended_at AS "endedAt" FROM sessions WHERE id = $1`,
    [id],
  );
  if (row === undefined) throw new Error('no such row');
  return row;
};

const databaseNow = async (): Promise<number> => {
  const [row] = await harness.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return row?.now.getTime() ?? 0;
};

/** Sets the expiry of a session to `leftMs` from now by the database clock. */
const setTimeLeft = (id: Uuid, leftMs: number): Promise<object[]> =>
  harness.database.query(
    `UPDATE sessions SET expires_at = date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $2) WHERE id = $1`,
    [id, leftMs / 1000],
  );

const evidenceOf = (session: Session, changes: Partial<InboundEvidence> = {}): InboundEvidence => ({
  tokens: [harness.tokenOf(session.id)],
  senders: [PHONE],
  trusted: true,
  ...changes,
});

async function receive(...evidence: readonly InboundEvidence[]): Promise<InboundVerdict[]> {
  const { verdicts, eventIds } = await harness.database.transaction((tx) =>
    harness.sessions.matchInbound(tx, 'live', evidence),
  );
  harness.notifiedEventIds.push(...eventIds);
  return verdicts;
}

const fatesOf = async (...evidence: readonly InboundEvidence[]): Promise<string[]> =>
  (await receive(...evidence)).map(({ fate }) => fate);

describe('create', () => {
  it('stores its input with the database time, and writes no event', async () => {
    const before = await databaseNow();
    const metadata = [
      ['b', '\u0000 \ud800 "quoted" 🙂'],
      ['10', 'x'],
      ['9', ''],
      ['__proto__', 'kept'],
    ] as const;
    const draft = harness.draft({
      metadata,
      webhookUrl: 'https://caller.example/hook',
      allowSmsOtp: false,
      ttlSeconds: 45,
    });
    const session = await harness.sessions.create(draft);
    const { ttlSeconds: _ttlSeconds, ...copied } = draft;
    expect(session).toMatchObject({ ...copied, status: 'pending', endedAt: null });
    expect(session.createdAt.getTime()).toBeGreaterThanOrEqual(Math.floor(before));
    expect(session.createdAt.getTime()).toBeLessThanOrEqual(await databaseNow());
    expect(session.expiresAt.getTime() - session.createdAt.getTime()).toBe(45_000);
    expect(await harness.sessions.find(liveTenant(session.accountId), session.id)).toEqual(session);
    expect(await eventsOf(session.id)).toEqual([]);
  });

  it('creates many sessions concurrently, each with its own id', async () => {
    const drafts = Array.from({ length: 300 }, (_, at) => harness.draft({ metadata: [['n', String(at)]] }));
    const made = await Promise.all(drafts.map((draft) => harness.sessions.create(draft)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(300);
    const found = await harness.sessions.findMany(
      harness.database,
      made.map(({ id }) => id),
    );
    const byId = new Map(found.map((session) => [session.id, session]));
    expect(made.map(({ id }) => byId.get(id))).toEqual(made);
    expect(made.map(({ metadata }) => metadata[0]?.[1])).toEqual(drafts.map((_, at) => String(at)));
  });

  it('fails alone if its data cannot be stored, while concurrent creates succeed', async () => {
    const drafts = Array.from({ length: 20 }, (_, at) =>
      harness.draft(at === 7 ? { webhookUrl: 'https://\u0000' } : {}),
    );
    const made = await Promise.allSettled(drafts.map((draft) => harness.sessions.create(draft)));
    expect(made.map(({ status }) => status === 'fulfilled')).toEqual(drafts.map((_, at) => at !== 7));
  });
});

describe('create, when the answer of a commit was lost', () => {
  it('runs again without a second row, and returns the time of the first', async () => {
    const { database } = harness;
    const texts: string[] = [];
    const losing: Pick<Database, 'query' | 'reports' | 'transaction'> = {
      reports: database.reports,
      query: async <Row extends object>(text: string, values?: readonly unknown[]) => {
        const rows = await database.query<Row>(text, values);
        texts.push(text);
        if (texts.length === 1) throw new TransactionConflict('40001 as if nothing had been committed');
        return rows;
      },
      transaction: (work) => database.transaction(work),
    };
    const { clock, keys } = harness;
    const listener = { onEvents: () => undefined };
    const sessions = new SessionStore({ database: losing, clock, keys, listener });
    const made = await Promise.all([sessions.create(harness.draft()), sessions.create(harness.draft())]);
    expect(texts).toHaveLength(3);
    const found = await harness.sessions.findMany(
      database,
      made.map(({ id }) => id),
    );
    expect(new Map(found.map((each) => [each.id, each]))).toEqual(new Map(made.map((each) => [each.id, each])));
  });
});

describe('find', () => {
  it("does not find another account's session", async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await harness.sessions.find(liveTenant(harness.brand.id), session.id)).toBeNull();
    expect(await harness.sessions.find(liveTenant(session.accountId), harness.clock.newId())).toBeNull();
  });

  it('returns a pending session past expiresAt as expired, although its row is still pending', async () => {
    const session = await harness.sessions.create(harness.draft());
    await setTimeLeft(session.id, 0);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(found?.status).toBe('expired');
    expect(found?.endedAt).toEqual(found?.expiresAt);
    expect((await rowOf(session.id)).status).toBe('pending');
    const [many] = await harness.sessions.findMany(harness.database, [session.id]);
    expect(many?.status).toBe('expired');
  });

  it('returns an empty list for no ids', async () => {
    expect(await harness.sessions.findMany(harness.database, [])).toEqual([]);
  });
});

describe('matchInbound', () => {
  it('approves the session of the token, once, with its event in the same transaction', async () => {
    const session = await harness.sessions.create(
      harness.draft({
        metadata: [
          ['2', 'b'],
          ['1', 'a'],
        ],
      }),
    );
    expect(await receive(evidenceOf(session))).toEqual([
      { fate: 'matched', sessionId: session.id, accountId: session.accountId },
    ]);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(found?.status).toBe('approved');
    expect((await rowOf(session.id)).approvedBy).toBe('mo');
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: 'verification.completed', webhookUrl: 'https://acme.example/hook' });
    expect(event?.occurredAt).toEqual(found?.endedAt);
    expect(event?.data).toBeNull();
    expect(harness.notifiedEventIds).toEqual([event?.id]);
  });

  it("writes the session's own webhook URL into the event instead of the account's", async () => {
    const session = await harness.sessions.create(harness.draft({ webhookUrl: 'https://caller.example/hook' }));
    await receive(evidenceOf(session));
    expect((await eventsOf(session.id)).map(({ webhookUrl }) => webhookUrl)).toEqual(['https://caller.example/hook']);
  });

  it('writes nothing when the transaction is rolled back', async () => {
    const session = await harness.sessions.create(harness.draft());
    const failed = harness.database.transaction(async (tx) => {
      await harness.sessions.matchInbound(tx, 'live', [evidenceOf(session)]);
      throw new Error('the message could not be stored');
    });
    await expect(failed).rejects.toThrow('could not be stored');
    expect((await rowOf(session.id)).status).toBe('pending');
    expect(await eventsOf(session.id)).toEqual([]);
    expect(await fatesOf(evidenceOf(session))).toEqual(['matched']);
  });

  it('reports a repeated message as duplicate, in the same batch and later', async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await fatesOf(evidenceOf(session), evidenceOf(session))).toEqual(['matched', 'duplicate']);
    expect(await fatesOf(evidenceOf(session))).toEqual(['duplicate']);
    expect(await eventsOf(session.id)).toHaveLength(1);
  });

  it('does not approve for another sender, and writes one event', async () => {
    const session = await harness.sessions.create(harness.draft());
    const stranger = evidenceOf(session, { senders: [STRANGER] });
    expect(await fatesOf(stranger, stranger)).toEqual(['wrong_sender', 'wrong_sender']);
    expect(await fatesOf(stranger)).toEqual(['wrong_sender']);
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    // The event is opt-in, and this account has not enabled it.
    expect(event).toMatchObject({ type: 'verification.sender_mismatch', webhookUrl: null });
    const data = JSON.parse(event?.data ?? '{}') as Record<string, string>;
    expect(Object.keys(data)).toEqual(['sessionId', 'accountId', 'brandId']);
    expect(parseId('sess', data['sessionId'] ?? '')).toBe(session.id);
    expect((await rowOf(session.id)).status).toBe('pending');
  });

  it('still approves for the right sender after a wrong one, also in the same batch', async () => {
    const session = await harness.sessions.create(harness.draft());
    const stranger = evidenceOf(session, { senders: [STRANGER] });
    expect(await fatesOf(stranger, evidenceOf(session), stranger)).toEqual(['wrong_sender', 'matched', 'wrong_sender']);
    const types = (await eventsOf(session.id)).map(({ type }) => type).sort();
    expect(types).toEqual(['verification.completed', 'verification.sender_mismatch']);
  });

  it('reports a token as expired for 24 hours, swept or not, and as unknown after that', async () => {
    const [unswept, swept] = await Promise.all([
      harness.sessions.create(harness.draft()),
      harness.sessions.create(harness.draft()),
    ]);
    await setTimeLeft(swept.id, 0);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);
    await setTimeLeft(unswept.id, 0);
    expect(await fatesOf(evidenceOf(unswept), evidenceOf(swept))).toEqual(['expired', 'expired']);
    expect((await rowOf(unswept.id)).status).toBe('pending');

    const aged = await agedSession(25 * 60 * 60 * 1000);
    expect(await fatesOf(evidenceOf(aged))).toEqual(['unknown_token']);
    const recent = await agedSession(23 * 60 * 60 * 1000);
    expect(await fatesOf(evidenceOf(recent))).toEqual(['expired']);
  });

  it("does not match a token with another brand's slug", async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await fatesOf(evidenceOf(session, { tokens: [harness.tokenOf(session.id, 'ACM3')] }))).toEqual([
      'unknown_token',
    ]);
  });

  it('matches the slug at the creation of the session, also after the brand was renamed', async () => {
    const session = await harness.sessions.create(harness.draft({ brandSlug: 'OLDSLUG' }));
    expect(await fatesOf(evidenceOf(session, { tokens: [harness.tokenOf(session.id, 'OLDSLUG')] }))).toEqual([
      'matched',
    ]);
  });

  it('checks every token of a message and approves one session', async () => {
    const [cancelled, live, other] = await Promise.all([
      harness.sessions.create(harness.draft()),
      harness.sessions.create(harness.draft()),
      harness.sessions.create(harness.draft()),
    ]);
    await harness.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    const tokens = [cancelled, live, other].map(({ id }) => harness.tokenOf(id));
    expect(await receive(evidenceOf(live, { tokens }))).toMatchObject([{ fate: 'matched', sessionId: live.id }]);
    expect((await rowOf(other.id)).status).toBe('pending');
  });

  it('changes no session for a message without a token or from an untrusted link', async () => {
    const session = await harness.sessions.create(harness.draft());
    const untrusted = evidenceOf(session, { trusted: false });
    expect(await fatesOf(untrusted, evidenceOf(session, { tokens: [] }))).toEqual(['untrusted', 'no_token']);
    expect((await rowOf(session.id)).status).toBe('pending');
    expect(await fatesOf()).toEqual([]);
  });

  it('reports a session with another ending as ended', async () => {
    const session = await harness.sessions.create(harness.draft());
    await harness.sessions.cancel(liveTenant(session.accountId), session.id);
    expect(await fatesOf(evidenceOf(session))).toEqual(['ended']);
    expect(await fatesOf(evidenceOf(session, { senders: [STRANGER] }))).toEqual(['wrong_sender']);
    expect((await eventsOf(session.id)).map(({ type }) => type)).toEqual(['verification.cancelled']);
  });
});

/** A session that was created this long ago. */
async function agedSession(ageMs: number): Promise<Session> {
  const { id, ...session } = await harness.sessions.create(harness.draft());
  const time = (harness.clock.nowMs() - ageMs).toString(16).padStart(12, '0');
  const agedId = `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
  const { slug, token } = harness.tokenOf(agedId);
  await harness.database.query(
    `INSERT INTO sessions SELECT (jsonb_populate_record(sessions, jsonb_build_object('id', $2::text, 'token_digest', $3::text,
       'created_at', created_at - make_interval(secs => $4), 'expires_at', expires_at - make_interval(secs => $4)))).*
     FROM sessions WHERE id = $1`,
    [id, agedId, `\\x${harness.keys.digest('token-digest', `AUTH-${slug}-${token}`).toString('hex')}`, ageMs / 1000],
  );
  return { ...session, id: agedId };
}

describe('cancel', () => {
  it('ends a live session with its event; a repetition writes no event', async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await harness.sessions.cancel(liveTenant(session.accountId), session.id)).toBe('done');
    expect(await harness.sessions.cancel(liveTenant(session.accountId), session.id)).toBe('done');
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(found?.status).toBe('cancelled');
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ type: 'verification.cancelled', webhookUrl: null });
    expect(event?.data).toBeNull();
    expect(harness.notifiedEventIds).toEqual([event?.id]);
  });

  it("does not find another account's session or an unknown id", async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await harness.sessions.cancel(liveTenant(harness.brand.id), session.id)).toBe('unknown');
    expect(await harness.sessions.cancel(liveTenant(session.accountId), harness.clock.newId())).toBe('unknown');
    expect((await rowOf(session.id)).status).toBe('pending');
  });

  it('does not change an expired session', async () => {
    const session = await harness.sessions.create(harness.draft());
    await setTimeLeft(session.id, 0);
    expect(await harness.sessions.cancel(liveTenant(session.accountId), session.id)).toBe('done');
    expect((await rowOf(session.id)).status).toBe('pending');
    while ((await harness.sessions.expireDueSessions(500)).live > 0);
    expect((await eventsOf(session.id)).map(({ type }) => type)).toEqual(['verification.expired']);
  });

  it('handles 200 concurrent calls separately', async () => {
    const made = await Promise.all(Array.from({ length: 100 }, () => harness.sessions.create(harness.draft())));
    const calls = made.flatMap(({ accountId, id }, at) => [
      harness.sessions.cancel(liveTenant(accountId), id),
      harness.sessions.cancel(liveTenant(at % 2 === 0 ? accountId : harness.brand.id), id),
    ]);
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === 'unknown')).toHaveLength(50);
    const counts = await Promise.all(made.map(async ({ id }) => (await eventsOf(id)).length));
    expect(new Set(counts)).toEqual(new Set([1]));
  });
});

describe('expireDueSessions', () => {
  it('marks expired sessions by the database clock, at expiresAt, with their event', async () => {
    const [due, live] = await Promise.all([
      harness.sessions.create(harness.draft()),
      harness.sessions.create(harness.draft()),
    ]);
    await setTimeLeft(due.id, -5);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);
    const found = await harness.sessions.find(liveTenant(due.accountId), due.id);
    expect(await rowOf(due.id)).toEqual({ status: 'expired', approvedBy: null, endedAt: found?.expiresAt });
    const [event] = await eventsOf(due.id);
    expect(event).toMatchObject({ type: 'verification.expired', occurredAt: found?.expiresAt });
    expect(harness.notifiedEventIds).toContain(event?.id);
    expect((await rowOf(live.id)).status).toBe('pending');
    expect(await eventsOf(live.id)).toEqual([]);
  });

  it('marks at most the given number, skips locked rows, and shares the rest with concurrent sweepers', async () => {
    const made = await Promise.all(Array.from({ length: 60 }, () => harness.sessions.create(harness.draft())));
    await Promise.all(made.map(({ id }) => setTimeLeft(id, -1)));
    const held = made[0]?.id ?? '';
    await harness.database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM sessions WHERE id = $1 FOR UPDATE', [held]);
      const first = await harness.sessions.expireDueSessions(10);
      const rest = await Promise.all([1, 2, 3].map(() => harness.sessions.expireDueSessions(100)));
      expect(first.live).toBe(10);
      expect(rest.reduce((sum, counts) => sum + counts.live, 0)).toBe(49);
    });
    expect(await harness.sessions.expireDueSessions(100)).toEqual({ live: 1, test: 0 });
    const counts = await Promise.all(made.map(async ({ id }) => (await eventsOf(id)).length));
    expect(new Set(counts)).toEqual(new Set([1]));
  });
});
