import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { runStatements } from '@countersign/postgres/statements';
import type { Decision, Ended } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionHarness, PHONE, STRANGER, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { liveTenant } from '../support/tenants.js';

let harness: SessionHarness;

beforeAll(async () => {
  harness = await openSessionHarness();
});
beforeEach(() => {
  harness.notifiedEventIds.length = 0;
});
afterAll(() => harness.close());

const createRcsSession = (): Promise<Session> => harness.sessions.create(harness.draft({ channel: 'rcs' }));

const decide = (decision: Decision): Promise<Ended> =>
  harness.database.transaction((tx) => harness.sessions.applyCardDecision(tx, decision));

const statusOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await harness.sessions.find(liveTenant(accountId), id))?.status;

const eventsOf = (id: Uuid): Promise<{ id: Uuid; type: string; data: string | null }[]> =>
  harness.database.query(`SELECT id, type, data::text AS data FROM events WHERE session_id = $1`, [id]);

describe('a tap on the card', () => {
  it('approves with the event in the same transaction; the caller notifies after its commit', async () => {
    const session = await createRcsSession();
    const { ended, eventIds } = await decide({
      mode: 'live',
      trigger: 'approve',
      approvedBy: 'rcs',
      ids: [session.id],
    });
    expect(ended).toEqual([session.id]);
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(found?.status).toBe('approved');
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ id: eventIds[0], type: 'verification.completed' });
    expect(event?.data).toBeNull();
    const [row] = await harness.database.query<{ by: string }>('SELECT approved_by AS by FROM sessions WHERE id = $1', [
      session.id,
    ]);
    expect(row?.by).toBe('rcs');
    expect(harness.notifiedEventIds).toEqual([]);
  });

  it('denies; a denied session has no authEntropy', async () => {
    const session = await createRcsSession();
    await decide({ mode: 'live', trigger: 'deny', approvedBy: null, ids: [session.id] });
    const found = await harness.sessions.find(liveTenant(session.accountId), session.id);
    expect(found?.status).toBe('denied');
    expect(found === null ? '' : harness.renderer.full(found)).not.toContain('authEntropy');
    expect((await eventsOf(session.id)).map(({ type }) => type)).toEqual(['verification.denied']);
  });

  it('changes live sessions only, not ended, unknown or expired ones', async () => {
    const [live, cancelled, late] = await Promise.all([createRcsSession(), createRcsSession(), createRcsSession()]);
    await harness.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    await harness.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [late.id]);
    const ids = [late.id, harness.clock.newId(), cancelled.id, live.id];
    const { ended, eventIds } = await decide({ mode: 'live', trigger: 'approve', approvedBy: 'rcs', ids });
    expect(ended).toEqual([live.id]);
    expect(eventIds).toHaveLength(1);
    expect(await Promise.all([live, cancelled, late].map(statusOf))).toEqual(['approved', 'cancelled', 'expired']);
    expect(await decide({ mode: 'live', trigger: 'deny', approvedBy: null, ids: [live.id] })).toEqual({
      ended: [],
      eventIds: [],
    });
    expect(await decide({ mode: 'live', trigger: 'deny', approvedBy: null, ids: [] })).toEqual({
      ended: [],
      eventIds: [],
    });
  });

  it('writes nothing when the transaction is rolled back', async () => {
    const session = await createRcsSession();
    const failed = harness.database.transaction(async (tx) => {
      await harness.sessions.applyCardDecision(tx, {
        mode: 'live',
        trigger: 'approve',
        approvedBy: 'rcs',
        ids: [session.id],
      });
      throw new Error('the tap could not be stored');
    });
    await expect(failed).rejects.toThrow('could not be stored');
    expect(await statusOf(session)).toBe('pending');
    expect(await eventsOf(session.id)).toEqual([]);
  });
});

describe('markRcsDelivered', () => {
  const markDelivered = (ids: readonly Uuid[]): Promise<Uuid[]> =>
    harness.database.transaction((tx) => runStatements(tx, harness.sessions.markRcsDelivered(ids)));
  const channelOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
    (await harness.sessions.find(liveTenant(accountId), id))?.channel;

  it('sets the channel of a session to RCS once, and changes nothing else', async () => {
    const session = await harness.sessions.create(harness.draft());
    expect(await markDelivered([session.id, harness.clock.newId()])).toEqual([session.id]);
    expect(await harness.sessions.find(liveTenant(session.accountId), session.id)).toEqual({
      ...session,
      channel: 'rcs',
    });
    expect(await markDelivered([session.id])).toEqual([]);
    expect(await markDelivered([])).toEqual([]);
    expect(await eventsOf(session.id)).toEqual([]);
  });

  it('sets the channel in the event of a tap in the same transaction', async () => {
    const session = await harness.sessions.create(harness.draft());
    await harness.database.transaction(async (tx) => {
      await runStatements(tx, harness.sessions.markRcsDelivered([session.id]));
      await harness.sessions.applyCardDecision(tx, {
        mode: 'live',
        trigger: 'approve',
        approvedBy: 'rcs',
        ids: [session.id],
      });
    });
    expect(await channelOf(session)).toBe('rcs');
  });

  it('locks sessions in the order of their ids, so that concurrent calls do not deadlock', async () => {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => harness.sessions.create(harness.draft())));
    const ids = sessions.map(({ id }) => id);
    const marked = await Promise.all([markDelivered(ids), markDelivered([...ids].reverse()), markDelivered(ids)]);
    expect(marked.flat().sort()).toEqual([...ids].sort());
    expect(new Set(await Promise.all(sessions.map(channelOf)))).toEqual(new Set(['rcs']));
  });

  it('does not change tapped sessions, but locks them in the same order', async () => {
    const [first, second] = [
      await harness.sessions.create(harness.draft()),
      await harness.sessions.create(harness.draft()),
    ];
    const lock = (tx: Executor, { id }: Session): Promise<object[]> =>
      tx.query('SELECT id FROM sessions WHERE id = $1 FOR UPDATE SKIP LOCKED', [id]);
    const { waits: marking } = await harness.database.transaction(async (tx) => {
      expect(await lock(tx, first)).toHaveLength(1);
      const waits = harness.database.transaction((other) =>
        runStatements(other, harness.sessions.markRcsDelivered([second.id], [first.id])),
      );
      await until('the call waits for the first session', 5_000, async () => {
        const [row] = await harness.database.query<{ waiting: number }>(
          `SELECT count(*)::int AS waiting FROM pg_locks WHERE NOT granted`,
        );
        return (row?.waiting ?? 0) > 0;
      });
      expect(await lock(tx, second)).toHaveLength(1);
      return { waits };
    });
    expect(await marking).toEqual([second.id]);
    expect(await Promise.all([first, second].map(channelOf))).toEqual(['sms_fallback', 'rcs']);
  });
});

describe('a session that has ended', () => {
  const CODE = '123456';
  const ENDS: readonly (readonly [string, (session: Session) => Promise<unknown>])[] = [
    ['approved', ({ id }) => decide({ mode: 'live', trigger: 'approve', approvedBy: 'rcs', ids: [id] })],
    ['denied', ({ id }) => decide({ mode: 'live', trigger: 'deny', approvedBy: null, ids: [id] })],
    ['cancelled', ({ accountId, id }) => harness.sessions.cancel(liveTenant(accountId), id)],
    [
      'expired',
      async ({ id }) => {
        await harness.database.query(
          `UPDATE sessions SET expires_at = date_trunc('milliseconds', clock_timestamp()) - interval '1 second' WHERE id = $1`,
          [id],
        );
        while ((await harness.sessions.expireDueSessions(500)).live > 0);
      },
    ],
  ];

  // Its events have no data of their own: they show the row.
  it.each(ENDS)('is shown as it ended, whatever comes later: %s', async (status, end) => {
    const session = await harness.sessions.create(harness.draft({ metadata: [['order', '7']] }));
    const tenant = liveTenant(session.accountId);
    const shown = async (): Promise<string> => {
      const found = await harness.sessions.find(tenant, session.id);
      return found === null ? '' : harness.renderer.full(found);
    };
    await end(session);
    const ended = await shown();
    expect(JSON.parse(ended)).toMatchObject({ status, channel: 'sms_fallback' });

    for (const [, again] of ENDS.slice(0, 3)) await again(session);
    await harness.database.transaction(async (tx) => {
      await runStatements(tx, harness.sessions.markRcsDelivered([session.id]));
      for (const sender of [STRANGER, PHONE])
        await harness.sessions.matchInbound(tx, 'live', [
          { tokens: [harness.tokenOf(session.id)], senders: [sender], trusted: true },
        ]);
      expect(await harness.sessions.prepareCode(tx, tenant, session.id)).not.toMatchObject({ kind: 'ready' });
    });
    await harness.sessions.checkCode(tenant, session.id, CODE);
    await harness.sessions.consume(tenant, session.id);
    while ((await harness.sessions.expireDueSessions(500)).live > 0);

    expect(await shown()).toBe(ended);
    expect(await eventsOf(session.id)).toHaveLength(1);
  });
});
