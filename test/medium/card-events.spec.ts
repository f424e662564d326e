import { CardAnswers, messageIdOf, type NewCard, type NewCardEvent } from '@countersign/cards';
import type { Uuid } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardRoom, type CardRoom } from '../support/card-room.js';
import { STRANGER } from '../support/session-room.js';
import { liveTenant } from '../support/tenants.js';

let room: CardRoom;

beforeAll(async () => {
  room = await openCardRoom();
});
afterAll(() => room.close());

const APPROVE = { kind: 'approve' } as const;
const DENY = { kind: 'deny' } as const;

/** Channel and status as its caller reads them. */
const stateOf = async (card: NewCard): Promise<string> => {
  const session = await room.sessionOf(card);
  return session === null ? 'none' : `${session.channel} ${session.status}`;
};

const eventOfSession = async (id: Uuid): Promise<{ type: string; data: Readonly<Record<string, unknown>> }> => {
  const [event, ...others] = await room.database.query<{ type: string; data: string }>(
    'SELECT type, data::text AS data FROM events WHERE session_id = $1',
    [id],
  );
  if (event === undefined || others.length > 0) throw new Error(`${others.length} events too many, or none`);
  return { type: event.type, data: JSON.parse(event.data) as Readonly<Record<string, unknown>> };
};

describe('a card that arrives while its request waits', () => {
  it.each(['delivered', 'read'] as const)('%s makes its session RCS, and that is news', async (kind) => {
    const card = await room.sent();
    const decided = await room.tell(room.eventOf(card, kind));
    expect(decided).toMatchObject({ chosen: [card.id], news: [{ id: card.id, waiter: room.waiter, news: 'rcs' }] });
    expect(decided.arrivals).toMatchObject([{ cardId: card.id, agentId: card.agentId }]);
    expect(await stateOf(card)).toBe('rcs pending');
    expect(await room.cards.settle(card.id)).toBe('rcs');
    expect((await room.cardOf(card.id))?.errand).toBeNull();
  });

  it('tapped before anything else was told makes it RCS first: what is told of its end says so', async () => {
    const card = await room.sent();
    const decided = await room.tell(room.tapOn(card, APPROVE));
    expect(decided).toMatchObject({ chosen: [card.id], ended: [card.id], news: [{ news: 'rcs' }] });
    expect(await stateOf(card)).toBe('rcs approved');
    expect(await eventOfSession(card.id)).toMatchObject({ type: 'verification.completed', data: { channel: 'rcs' } });
  });

  it('is found by its message though the outcome of the send is not written yet', async () => {
    const card = await room.sending();
    expect((await room.tell(room.eventOf(card, 'delivered'))).arrivals).toMatchObject([{ afterMs: 0 }]);
    expect(await room.cards.recordOutcomes([{ id: card.id, outcome: { kind: 'sent' } }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await stateOf(card)).toBe('rcs pending');
  });
});

describe('a card that arrives after its request was answered', () => {
  it('changes nothing of the channel; there is nothing left to revoke', async () => {
    const card = await room.sent();
    await room.cards.settle(card.id);
    const { chosen, news } = await room.tell(room.eventOf(card, 'delivered'));
    expect([chosen, news]).toEqual([[], []]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
    expect((await room.cardOf(card.id))?.errand).toBeNull();
  });

  it('still approves by a tap while its session is pending', async () => {
    const card = await room.sent();
    await room.cards.settle(card.id);
    expect((await room.tell(room.tapOn(card, APPROVE))).ended).toEqual([card.id]);
    expect(await stateOf(card)).toBe('sms_fallback approved');
    expect((await room.cardOf(card.id))?.errand).toBe('close_approved');
  });

  it('is settled as SMS if it comes after its time and nobody has settled it: whoever waited is gone', async () => {
    const card = await room.sent();
    await room.database.query(`UPDATE cards SET expires_at = now() - interval '1 ms' WHERE id = $1`, [card.id]);
    const { chosen, news } = await room.tell(room.eventOf(card, 'delivered'));
    expect([chosen, news]).toEqual([[], [{ id: card.id, waiter: room.waiter, news: 'sms_fallback' }]]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });
});

describe('a tap', () => {
  it('denies, and is answered by a short text', async () => {
    const card = await room.sent();
    const tap = room.tapOn(card, DENY);
    await room.tell(tap);
    expect(await stateOf(card)).toBe('rcs denied');
    expect(await room.outcomesOf([tap])).toEqual(['denied']);
    expect(await room.cardOf(card.id)).toMatchObject({ errand: 'close_denied', tappedAt: expect.any(Date) as Date });
  });

  it('that comes second does nothing, whatever it says, in the same moment or later', async () => {
    const card = await room.sent();
    const [first, second, third] = [room.tapOn(card, APPROVE), room.tapOn(card, DENY), room.tapOn(card, DENY)];
    const ordered = [first, second].sort((one, other) => (one.id < other.id ? -1 : 1));
    await room.tell(first, second);
    await room.tell(third);
    expect(await room.outcomesOf([...ordered, third])).toEqual([
      ordered[0] === first ? 'approved' : 'denied',
      'repeated',
      'repeated',
    ]);
    expect(await stateOf(card)).toBe(ordered[0] === first ? 'rcs approved' : 'rcs denied');
  });

  it('on a session that ended otherwise, or whose time is up, is late: no text answers it', async () => {
    const [cancelled, over] = [await room.sent(), await room.sent()];
    await room.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    await room.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [over.id]);
    const taps = [room.tapOn(cancelled, APPROVE), room.tapOn(over, DENY)];
    expect((await room.tell(...taps)).ended).toEqual([]);
    expect(await room.outcomesOf(taps)).toEqual(['late', 'late']);
    expect((await room.cardOf(cancelled.id))?.errand).toBeNull();
    // A denial that changed nothing counts nothing.
    expect(
      await room.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
        over.phone,
      ]),
    ).toEqual([{ denials: 0 }]);
  });

  it('of another agent, another phone, or on a button that the card does not have changes nothing', async () => {
    const card = await room.sent();
    const taps = [
      room.tapOn(card, APPROVE, { agentId: 'another_agent' }),
      room.tapOn(card, APPROVE, { phone: STRANGER }),
      room.tapOn(card, { kind: 'number', number: room.answers.matchCodeOf(card) }),
      room.eventOf(card, 'tap', { cardId: card.id }),
      room.tapOn({ ...card, id: room.clock.newId() }, APPROVE),
      room.tapOn({ ...card, id: '00000000-0000-0000-0000-000000000000' }, APPROVE),
    ];
    await room.tell(...taps);
    expect(await room.outcomesOf(taps)).toEqual([
      'other_agent',
      'other_phone',
      'not_offered',
      'not_offered',
      'unknown_card',
      'unknown_card',
    ]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
    expect(await room.cardOf(card.id)).toMatchObject({ settledAs: null, deliveredAt: null });
  });

  it('by the name of the agent that the platform gives counts', async () => {
    const card = await room.sent();
    expect((await room.tell(room.tapOn(card, APPROVE, { agentId: `${card.agentId}@rbm.goog` }))).ended).toEqual([
      card.id,
    ]);
  });
});

describe('with number matching', () => {
  it('the right number approves', async () => {
    const card = await room.sent({ numberMatching: true });
    await room.tell(room.tapOn(card, { kind: 'number', number: room.answers.matchCodeOf(card) }));
    expect(await stateOf(card)).toBe('rcs approved');
  });

  it('a wrong one denies, and counts as a denial', async () => {
    const card = await room.sent({ numberMatching: true });
    const wrong = new CardAnswers(room.keys)
      .suggestionsOf(card)
      .find(({ text }) => /^\d\d$/.test(text) && text !== room.answers.matchCodeOf(card));
    await room.tell(room.tapOn(card, { kind: 'number', number: wrong?.text ?? '' }));
    expect(await stateOf(card)).toBe('rcs denied');
    expect(
      await room.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
        card.phone,
      ]),
    ).toEqual([{ denials: 1 }]);
  });

  it('Approve is no button of the card', async () => {
    const card = await room.sent({ numberMatching: true });
    await room.tell(room.tapOn(card, APPROVE));
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });
});

describe('the platform says that it took a card back', () => {
  it('settles an open request as SMS, and leaves nothing to revoke', async () => {
    const card = await room.sent();
    const expired = room.eventOf(card, 'expired');
    expect((await room.tell(expired)).news).toMatchObject([{ id: card.id, news: 'sms_fallback' }]);
    expect(await room.outcomesOf([expired])).toEqual(['taken_back']);
    const revoked = await room.sent();
    await room.cards.settle(revoked.id);
    await room.tell(room.eventOf(revoked, 'expired'));
    expect((await room.cardOf(revoked.id))?.errand).toBeNull();
  });

  it('or that it may have: the revoke stays', async () => {
    const card = await room.sent();
    await room.cards.settle(card.id);
    await room.tell(room.eventOf(card, 'expire_failed'));
    expect((await room.cardOf(card.id))?.errand).toBe('revoke');
  });

  it('but it had arrived: that outweighs it, in either order', async () => {
    const [before, after] = [await room.sent(), await room.sent()];
    await room.tell(room.eventOf(before, 'delivered'));
    await room.tell(room.eventOf(before, 'expired'));
    expect(await room.cards.settle(before.id)).toBe('rcs');
    await room.tell(room.eventOf(after, 'expired'));
    await room.tell(room.eventOf(after, 'delivered'));
    expect(await room.cardOf(after.id)).toMatchObject({
      settledAs: 'sms_fallback',
      deliveredAt: expect.any(Date) as Date,
    });
  });
});

describe('an event', () => {
  it('that comes again is the same row, is not new, and is not applied again', async () => {
    const card = await room.sent();
    const event = room.eventOf(card, 'delivered', { name: 'the one' });
    expect(await room.cards.storeEvents([event, event])).toEqual([event.id]);
    expect(await room.cards.storeEvents([event])).toEqual([]);
    expect((await room.decide([event.id])).chosen).toEqual([card.id]);
    expect((await room.decide([event.id])).chosen).toEqual([]);
    expect(
      await room.database.query('SELECT id FROM card_events WHERE message_id = $1', [messageIdOf(card.id, 'card')]),
    ).toEqual([{ id: event.id }]);
  });

  it('that is kept holds nothing of the phone but what it chose', async () => {
    const card = await room.sent({ numberMatching: true });
    const tap = room.tapOn(card, { kind: 'number', number: '42' });
    const text = room.eventOf(card, 'text', { messageId: null });
    const typing = room.eventOf(card, 'typing', { messageId: null });
    await room.tell(tap, text, typing);
    const rows = await room.database.query(
      'SELECT kind, choice, outcome FROM card_events WHERE phone = $1 ORDER BY kind',
      [card.phone],
    );
    expect(rows).toEqual([
      { kind: 'tap', choice: 'n42', outcome: expect.any(String) as string },
      { kind: 'text', choice: null, outcome: 'ignored' },
      { kind: 'typing', choice: null, outcome: 'ignored' },
    ]);
  });

  it('about a message that is no card is kept and changes nothing', async () => {
    const card = await room.sent();
    const events = [
      room.eventOf(card, 'delivered', { messageId: messageIdOf(card.id, 'closing') }),
      room.eventOf(card, 'read', { messageId: null }),
    ];
    await room.tell(...events);
    expect(await room.outcomesOf(events)).toEqual(['unknown_card', 'unknown_card']);
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });

  it('that its gateway did not act on is found by another, the oldest first', async () => {
    const cards = [await room.sent(), await room.sent()];
    const ids = await room.cards.storeEvents(cards.map((card) => room.eventOf(card, 'delivered')));
    const found = await room.database.transaction((tx) => room.cards.takeEvents(tx, { limit: 1 }));
    expect(found.map(({ id }) => id)).toEqual([...ids].sort().slice(0, 1));
    expect(await room.database.transaction((tx) => room.cards.takeEvents(tx, []))).toEqual([]);
  });

  it('that another transaction has taken is passed over', async () => {
    const card = await room.sent();
    const ids = await room.cards.storeEvents([room.eventOf(card, 'delivered')]);
    await room.database.transaction(async (tx) => {
      expect(await room.cards.takeEvents(tx, ids)).toHaveLength(1);
      expect((await room.decide(ids)).chosen).toEqual([]);
    });
    expect((await room.decide(ids)).chosen).toEqual([card.id]);
  });

  it('of an agent that is older than what is known of it changes nothing', async () => {
    const card = await room.draftCard({ agentId: 'late_agent' });
    const at = (ms: number, launchState: string): Promise<unknown> =>
      room.tell(
        room.eventOf(card, 'agent', {
          phone: null,
          messageId: null,
          launchState,
          occurredAt: new Date(room.clock.nowMs() + ms),
        }),
      );
    await at(0, 'LAUNCHED');
    await at(-60_000, 'SUSPENDED');
    await at(-3 * 24 * 3_600_000, 'SUSPENDED');
    expect(await room.cards.offer(card)).toEqual({ kind: 'offered' });
  });

  it('that a phone wants cards again, told after its later word that it does not, changes nothing', async () => {
    const card = await room.draftCard({ agentId: 'stopped_agent' });
    const said = (kind: 'subscribed' | 'unsubscribed', msAgo: number): NewCardEvent =>
      room.eventOf(card, kind, { messageId: null, occurredAt: new Date(room.clock.nowMs() - msAgo) });
    await room.tell(said('unsubscribed', 60_000));
    await room.tell(said('subscribed', 90_000));
    await room.tell(said('subscribed', 3 * 24 * 3_600_000));
    expect(await room.cards.offer(card)).toEqual({ kind: 'refused', because: 'prefers_sms' });
    await room.tell(said('subscribed', 3 * 24 * 3_600_000), said('subscribed', 30_000), said('unsubscribed', 45_000));
    expect(await room.cards.offer(card)).toEqual({ kind: 'offered' });
  });
});
