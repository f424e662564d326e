import { newId, type Uuid } from '@countersign/ids';
import type { SessionQuery } from '@countersign/session';
import { SESSION_STATUSES, type Session, type SessionStatus } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pastPartitions } from '../support/database.js';
import { openSessionHarness, PHONE, STRANGER, type SessionHarness } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Ages of earlier sessions in days, with small and large gaps. */
const AGES = [1, 2, 3, 6, 7, 8, 14, 17, 20];

let harness: SessionHarness;
/** Every session of the account, newest first. */
let all: Session[];
/** A session of another account. */
let foreign: Session;

const newestFirst = (one: { readonly id: Uuid }, other: { readonly id: Uuid }): number => (one.id < other.id ? 1 : -1);

/** Copies a session into the past, with the id and times of that age. */
async function copyAged(session: Session, ageMs: number): Promise<void> {
  const time = (harness.clock.nowMs() - ageMs).toString(16).padStart(12, '0');
  const id = `${time.slice(0, 8)}-${time.slice(8)}${session.id.slice(13)}`;
  await harness.database.query(
    `INSERT INTO sessions SELECT (jsonb_populate_record(sessions, jsonb_build_object('id', $2::text,
       'created_at', created_at - make_interval(secs => $3), 'expires_at', expires_at - make_interval(secs => $3),
       'ended_at', ended_at - make_interval(secs => $3)))).*
     FROM sessions WHERE id = $1`,
    [session.id, id, ageMs / 1000],
  );
}

beforeAll(async () => {
  harness = await openSessionHarness({ pastDays: 20 });
  const { sessions, database, account } = harness;
  await pastPartitions(harness, harness.clock.nowMs() - 7 * DAY_MS);
  const open = (changes: Parameters<SessionHarness['draft']>[0] = {}): Promise<Session> =>
    sessions.create(harness.draft(changes));
  const created = await Promise.all(
    Array.from({ length: 30 }, (_, at) => open({ phone: at % 4 === 0 ? STRANGER : PHONE })),
  );
  for (const session of created.slice(0, 4)) await sessions.cancel(liveTenant(account.id), session.id);
  await database.transaction(async (tx) => {
    const ids = created.map(({ id }) => id);
    await sessions.applyCardDecision(tx, { mode: 'live', trigger: 'approve', approvedBy: 'rcs', ids: ids.slice(4, 9) });
    await sessions.applyCardDecision(tx, { mode: 'live', trigger: 'deny', approvedBy: null, ids: ids.slice(9, 12) });
  });
  const expire = (from: number, to: number): Promise<object[]> =>
    database.query('UPDATE sessions SET expires_at = created_at WHERE id = ANY ($1)', [
      created.slice(from, to).map(({ id }) => id),
    ]);
  await expire(12, 15);
  while ((await sessions.expireDueSessions(500)).live > 0);
  // These have expired too, but no sweeper has marked them.
  await expire(15, 18);
  for (const [at, session] of created.slice(0, 18).entries()) await copyAged(session, (AGES[at % 9] ?? 0) * DAY_MS);
  const other = await harness.accounts.createAccount(database, { name: 'Other', defaultWebhookUrl: null });
  foreign = await open({ accountId: other.account.id });
  const rows = await database.query<{ id: Uuid }>('SELECT id FROM sessions WHERE account_id = $1', [account.id]);
  all = (
    await sessions.findMany(
      database,
      rows.map(({ id }) => id),
    )
  ).sort(newestFirst);
});
afterAll(() => harness.close());

/** Reads all pages in order, with the length of each. */
async function readPages(
  query: Omit<SessionQuery, 'startingAfter'>,
): Promise<{ sessions: Session[]; lengths: number[] }> {
  const sessions: Session[] = [];
  const lengths: number[] = [];
  for (;;) {
    const last = sessions.at(-1);
    const page = await harness.sessions.list(liveTenant(harness.account.id), {
      ...query,
      ...(last === undefined ? {} : { startingAfter: last.id }),
    });
    sessions.push(...page.sessions);
    lengths.push(page.sessions.length);
    if (!page.hasMore) return { sessions, lengths };
  }
}

describe('the list of sessions', () => {
  it('contains every session of the account once, newest first, over all days, and no session of another account', async () => {
    expect(all).toHaveLength(48);
    for (const limit of [1, 7, 48, 100]) {
      const { sessions, lengths } = await readPages({ limit });
      expect(sessions).toEqual(all);
      expect(lengths.slice(0, -1).every((length) => length === limit)).toBe(true);
      expect(lengths).toHaveLength(Math.ceil(48 / limit));
    }
    expect(all.map(({ id }) => id)).not.toContain(foreign.id);
  });

  it.each(SESSION_STATUSES)(
    'with the status %s contains exactly the sessions of that status',
    async (status: SessionStatus) => {
      const wanted = all.filter((session) => session.status === status);
      expect(wanted.length).toBeGreaterThan(2);
      for (const limit of [2, 100]) expect((await readPages({ status, limit })).sessions).toEqual(wanted);
    },
  );

  it('with a phone contains exactly its sessions, also with a status', async () => {
    const wanted = all.filter(({ phone }) => phone === STRANGER);
    expect(wanted.length).toBeGreaterThan(10);
    expect((await readPages({ phone: STRANGER, limit: 5 })).sessions).toEqual(wanted);
    for (const status of SESSION_STATUSES) {
      const both = wanted.filter((session) => session.status === status);
      expect((await readPages({ phone: STRANGER, status, limit: 2 })).sessions).toEqual(both);
    }
    expect(await harness.sessions.list(liveTenant(harness.account.id), { phone: '+14155550123', limit: 10 })).toEqual({
      sessions: [],
      hasMore: false,
    });
  });

  it('treats a pending session past expiresAt as expired, in the filter and in the result', async () => {
    const { sessions } = await readPages({ status: 'expired', limit: 100 });
    const rows = await harness.database.query<{ id: Uuid }>(
      `SELECT id FROM sessions WHERE status = 'pending' AND expires_at <= clock_timestamp()`,
    );
    expect(rows.length).toBeGreaterThan(2);
    expect(sessions.map(({ id }) => id)).toEqual(expect.arrayContaining(rows.map(({ id }) => id)));
    for (const session of sessions) expect(session).toMatchObject({ status: 'expired', endedAt: session.expiresAt });
  });

  it('finds a pending session with the id of an attempt from almost ten minutes ago', async () => {
    const { accountId } = foreign;
    const id = newId(harness.clock.nowMs() - 590_000);
    await harness.sessions.create(harness.draft({ accountId, ttlSeconds: 300 }), id);
    const { sessions } = await harness.sessions.list(liveTenant(accountId), { status: 'pending', limit: 10 });
    expect(sessions.map((session) => session.id)).toEqual([foreign.id, id]);
  });

  it('ends a page early if metadata are large, without skipping a session', async () => {
    const { accounts, database, sessions } = harness;
    const { account } = await accounts.createAccount(database, { name: 'Large', defaultWebhookUrl: null });
    const metadata = Array.from({ length: 16 }, (_, at): [string, string] => [`key${at}`, '\u{1f642}'.repeat(512)]);
    const created: Uuid[] = [];
    for (let at = 0; at < 30; at += 1) {
      created.push((await sessions.create(harness.draft({ accountId: account.id, metadata }))).id);
    }
    // Newest first, by id: two of one millisecond are in the order of their random bits.
    created.sort().reverse();
    const found: Uuid[] = [];
    const lengths: number[] = [];
    for (let startingAfter: Uuid | undefined; ; startingAfter = found.at(-1)) {
      const after = startingAfter === undefined ? {} : { startingAfter };
      const page = await sessions.list(liveTenant(account.id), { limit: 100, ...after });
      found.push(...page.sessions.map(({ id }) => id));
      lengths.push(page.sessions.length);
      if (!page.hasMore) break;
    }
    expect(found).toEqual(created);
    // 33 KB each: the eighth session reaches 256 KB.
    expect(lengths).toEqual([8, 8, 8, 6]);
  });
});
