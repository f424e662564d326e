import type { Uuid } from '@countersign/postgres';
import type { Decision, Ended, Session } from '@countersign/session';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSessionRoom, type SessionRoom } from '../support/session-room.js';

let room: SessionRoom;

beforeAll(async () => {
  room = await openSessionRoom();
});
beforeEach(() => {
  room.told.length = 0;
});
afterAll(() => room.close());

const opened = (): Promise<Session> => room.sessions.create(room.draft({ channel: 'rcs' }));

const decide = (decision: Decision): Promise<Ended> =>
  room.database.transaction((tx) => room.sessions.decide(tx, decision));

const statusOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await room.sessions.find(accountId, id))?.status;

const eventsOf = (id: Uuid): Promise<{ id: Uuid; type: string; data: string }[]> =>
  room.database.query(`SELECT id, type, data::text AS data FROM events WHERE session_id = $1`, [id]);

describe('a tap on the card', () => {
  it('approves with the event in the same transaction, for the caller to tell of after its commit', async () => {
    const session = await opened();
    const { ended, eventIds } = await decide({ trigger: 'approve', approvedBy: 'rcs', ids: [session.id] });
    expect(ended).toEqual([session.id]);
    const found = await room.sessions.find(session.accountId, session.id);
    expect(found?.status).toBe('approved');
    const [event, ...others] = await eventsOf(session.id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ id: eventIds[0], type: 'verification.completed' });
    expect(event?.data).toBe(found === null ? '' : room.renderer.bare(found));
    const [row] = await room.database.query<{ by: string }>('SELECT approved_by AS by FROM sessions WHERE id = $1', [
      session.id,
    ]);
    expect(row?.by).toBe('rcs');
    expect(room.told).toEqual([]);
  });

  it('denies, and what is denied has no authEntropy', async () => {
    const session = await opened();
    await decide({ trigger: 'deny', approvedBy: null, ids: [session.id] });
    const found = await room.sessions.find(session.accountId, session.id);
    expect(found?.status).toBe('denied');
    expect(found === null ? '' : room.renderer.full(found)).not.toContain('authEntropy');
    expect((await eventsOf(session.id)).map(({ type }) => type)).toEqual(['verification.denied']);
  });

  it('moves those that are live and leaves the others as they are, the unknown and the expired too', async () => {
    const [live, cancelled, late] = await Promise.all([opened(), opened(), opened()]);
    await room.sessions.cancel(cancelled.accountId, cancelled.id);
    await room.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [late.id]);
    const ids = [late.id, room.clock.newId(), cancelled.id, live.id];
    const { ended, eventIds } = await decide({ trigger: 'approve', approvedBy: 'rcs', ids });
    expect(ended).toEqual([live.id]);
    expect(eventIds).toHaveLength(1);
    expect(await Promise.all([live, cancelled, late].map(statusOf))).toEqual(['approved', 'cancelled', 'expired']);
    expect(await decide({ trigger: 'deny', approvedBy: null, ids: [live.id] })).toEqual({ ended: [], eventIds: [] });
    expect(await decide({ trigger: 'deny', approvedBy: null, ids: [] })).toEqual({ ended: [], eventIds: [] });
  });

  it('leaves nothing behind when the transaction is rolled back', async () => {
    const session = await opened();
    const failed = room.database.transaction(async (tx) => {
      await room.sessions.decide(tx, { trigger: 'approve', approvedBy: 'rcs', ids: [session.id] });
      throw new Error('the tap could not be stored');
    });
    await expect(failed).rejects.toThrow('could not be stored');
    expect(await statusOf(session)).toBe('pending');
    expect(await eventsOf(session.id)).toEqual([]);
  });
});
