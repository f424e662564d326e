import { CardAnswers, messageIdOf, type NewCard, type NewCardEvent } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';
import { STRANGER } from '../support/session-harness.js';
import { liveTenant } from '../support/tenants.js';

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness();
});
afterAll(() => harness.close());

const APPROVE = { kind: 'approve' } as const;
const DENY = { kind: 'deny' } as const;

/** Channel and status of the session. */
const stateOf = async (card: NewCard): Promise<string> => {
  const session = await harness.sessionOf(card);
  return session === null ? 'none' : `${session.channel} ${session.status}`;
};

const eventTypesOf = async (id: Uuid): Promise<string[]> => {
  const events = await harness.database.query<{ type: string }>('SELECT type FROM events WHERE session_id = $1', [id]);
  return events.map(({ type }) => type);
};

describe('a card that arrives while its create waits', () => {
  it.each(['delivered', 'read'] as const)('%s makes its session rcs, and that is published', async (kind) => {
    const card = await harness.sent();
    const decided = await harness.storeAndProcess(harness.eventOf(card, kind));
    expect(decided).toMatchObject({
      rcsDelivered: [card.id],
      cardOutcomes: [{ id: card.id, originProcess: harness.originProcess, news: 'rcs' }],
    });
    expect(decided.arrivals).toMatchObject([{ cardId: card.id, agentId: card.agentId }]);
    expect(await stateOf(card)).toBe('rcs pending');
    expect(await harness.cards.offers.settleChannel(card.id)).toBe('rcs');
    expect((await harness.cardOf(card.id))?.command).toBeNull();
  });

  it('makes its session rcs by a tap without earlier events, before the event of its end is written', async () => {
    const card = await harness.sent();
    const decided = await harness.storeAndProcess(harness.tapOn(card, APPROVE));
    expect(decided).toMatchObject({ rcsDelivered: [card.id], ended: [card.id], cardOutcomes: [{ news: 'rcs' }] });
    expect(await stateOf(card)).toBe('rcs approved');
    expect(await eventTypesOf(card.id)).toEqual(['verification.completed']);
  });

  it('is found by its message id before the outcome of its send is recorded', async () => {
    const card = await harness.sending();
    expect((await harness.storeAndProcess(harness.eventOf(card, 'delivered'))).arrivals).toMatchObject([
      { afterMs: 0 },
    ]);
    expect(await harness.cards.sends.recordSendOutcomes([{ id: card.id, outcome: { kind: 'sent' } }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await stateOf(card)).toBe('rcs pending');
  });
});

describe('a card that arrives after its create was answered', () => {
  it('does not change the channel, and is no longer revoked', async () => {
    const card = await harness.sent();
    await harness.cards.offers.settleChannel(card.id);
    const { rcsDelivered, cardOutcomes } = await harness.storeAndProcess(harness.eventOf(card, 'delivered'));
    expect([rcsDelivered, cardOutcomes]).toEqual([[], []]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
    expect((await harness.cardOf(card.id))?.command).toBeNull();
  });

  it('still approves by a tap while its session is pending', async () => {
    const card = await harness.sent();
    await harness.cards.offers.settleChannel(card.id);
    expect((await harness.storeAndProcess(harness.tapOn(card, APPROVE))).ended).toEqual([card.id]);
    expect(await stateOf(card)).toBe('sms_fallback approved');
    expect((await harness.cardOf(card.id))?.command).toBe('close_approved');
  });

  it('is settled as sms_fallback when it is expired and unsettled', async () => {
    const card = await harness.sent();
    await harness.database.query(`UPDATE cards SET expires_at = now() - interval '1 ms' WHERE id = $1`, [card.id]);
    const { rcsDelivered, cardOutcomes } = await harness.storeAndProcess(harness.eventOf(card, 'delivered'));
    expect([rcsDelivered, cardOutcomes]).toEqual([
      [],
      [{ id: card.id, originProcess: harness.originProcess, news: 'sms_fallback' }],
    ]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });
});

describe('a tap', () => {
  it('on Deny ends the session, and makes a closing text due', async () => {
    const card = await harness.sent();
    const tap = harness.tapOn(card, DENY);
    await harness.storeAndProcess(tap);
    expect(await stateOf(card)).toBe('rcs denied');
    expect(await harness.outcomesOf([tap])).toEqual(['denied']);
    expect(await harness.cardOf(card.id)).toMatchObject({
      command: 'close_denied',
      tappedAt: expect.any(Date) as Date,
    });
  });

  it('has no effect when it is the second one, in the same batch or later', async () => {
    const card = await harness.sent();
    const [first, second, third] = [harness.tapOn(card, APPROVE), harness.tapOn(card, DENY), harness.tapOn(card, DENY)];
    const ordered = [first, second].sort((left, right) => (left.id < right.id ? -1 : 1));
    await harness.storeAndProcess(first, second);
    await harness.storeAndProcess(third);
    expect(await harness.outcomesOf([...ordered, third])).toEqual([
      ordered[0] === first ? 'approved' : 'denied',
      'repeated',
      'repeated',
    ]);
    expect(await stateOf(card)).toBe(ordered[0] === first ? 'rcs approved' : 'rcs denied');
  });

  it('is late on a session that has ended or expired, and makes no closing text due', async () => {
    const [cancelled, over] = [await harness.sent(), await harness.sent()];
    await harness.sessions.cancel(liveTenant(cancelled.accountId), cancelled.id);
    await harness.database.query('UPDATE sessions SET expires_at = created_at WHERE id = $1', [over.id]);
    const taps = [harness.tapOn(cancelled, APPROVE), harness.tapOn(over, DENY)];
    expect((await harness.storeAndProcess(...taps)).ended).toEqual([]);
    expect(await harness.outcomesOf(taps)).toEqual(['late', 'late']);
    expect((await harness.cardOf(cancelled.id))?.command).toBeNull();
    // A late denial does not count.
    expect(
      await harness.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
        over.phone,
      ]),
    ).toEqual([{ denials: 0 }]);
  });

  it('of another agent or phone, or on a button that the card does not have, changes nothing', async () => {
    const card = await harness.sent();
    const taps = [
      harness.tapOn(card, APPROVE, { agentId: 'another_agent' }),
      harness.tapOn(card, APPROVE, { phone: STRANGER }),
      harness.tapOn(card, { kind: 'number', number: harness.answers.matchCodeOf(card) }),
      harness.eventOf(card, 'tap', { cardId: card.id }),
      harness.tapOn({ ...card, id: harness.clock.newId() }, APPROVE),
      harness.tapOn({ ...card, id: '00000000-0000-0000-0000-000000000000' }, APPROVE),
    ];
    await harness.storeAndProcess(...taps);
    expect(await harness.outcomesOf(taps)).toEqual([
      'other_agent',
      'other_phone',
      'not_offered',
      'not_offered',
      'unknown_card',
      'unknown_card',
    ]);
    expect(await stateOf(card)).toBe('sms_fallback pending');
    expect(await harness.cardOf(card.id)).toMatchObject({ finalChannel: null, deliveredAt: null });
  });

  it('of an agent whose id has the suffix of the platform twice is of another agent', async () => {
    const card = await harness.sent();
    // The webhook has removed one suffix.
    const tap = harness.tapOn(card, APPROVE, { agentId: `${card.agentId}@rbm.goog` });
    await harness.storeAndProcess(tap);
    expect(await harness.outcomesOf([tap])).toEqual(['other_agent']);
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });
});

describe('with number matching', () => {
  it('the right number approves', async () => {
    const card = await harness.sent({ numberMatching: true });
    await harness.storeAndProcess(harness.tapOn(card, { kind: 'number', number: harness.answers.matchCodeOf(card) }));
    expect(await stateOf(card)).toBe('rcs approved');
  });

  it('a wrong number denies, and counts as a denial', async () => {
    const card = await harness.sent({ numberMatching: true });
    const wrong = new CardAnswers(harness.keys)
      .suggestionsOf(card)
      .find(({ text }) => /^\d\d$/.test(text) && text !== harness.answers.matchCodeOf(card));
    await harness.storeAndProcess(harness.tapOn(card, { kind: 'number', number: wrong?.text ?? '' }));
    expect(await stateOf(card)).toBe('rcs denied');
    expect(
      await harness.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
        card.phone,
      ]),
    ).toEqual([{ denials: 1 }]);
  });

  it('a postback of Approve is invalid', async () => {
    const card = await harness.sent({ numberMatching: true });
    await harness.storeAndProcess(harness.tapOn(card, APPROVE));
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });
});

describe('an expiry event', () => {
  it('settles an unsettled card as sms_fallback, and drops its revoke', async () => {
    const card = await harness.sent();
    const expired = harness.eventOf(card, 'expired');
    expect((await harness.storeAndProcess(expired)).cardOutcomes).toMatchObject([
      { id: card.id, news: 'sms_fallback' },
    ]);
    expect(await harness.outcomesOf([expired])).toEqual(['taken_back']);
    const revoked = await harness.sent();
    await harness.cards.offers.settleChannel(revoked.id);
    await harness.storeAndProcess(harness.eventOf(revoked, 'expired'));
    expect((await harness.cardOf(revoked.id))?.command).toBeNull();
  });

  it('that is inconclusive keeps the revoke', async () => {
    const card = await harness.sent();
    await harness.cards.offers.settleChannel(card.id);
    await harness.storeAndProcess(harness.eventOf(card, 'expire_failed'));
    expect((await harness.cardOf(card.id))?.command).toBe('revoke');
  });

  it('does not override a delivery, in either order', async () => {
    const [before, after] = [await harness.sent(), await harness.sent()];
    await harness.storeAndProcess(harness.eventOf(before, 'delivered'));
    await harness.storeAndProcess(harness.eventOf(before, 'expired'));
    expect(await harness.cards.offers.settleChannel(before.id)).toBe('rcs');
    await harness.storeAndProcess(harness.eventOf(after, 'expired'));
    await harness.storeAndProcess(harness.eventOf(after, 'delivered'));
    expect(await harness.cardOf(after.id)).toMatchObject({
      finalChannel: 'sms_fallback',
      deliveredAt: expect.any(Date) as Date,
    });
  });
});

describe('an event', () => {
  it('that is repeated is the same row, is not new, and is not applied again', async () => {
    const card = await harness.sent();
    const event = harness.eventOf(card, 'delivered', { name: 'repeated' });
    expect(await harness.cards.events.storeEvents([event, event])).toEqual([event.id]);
    expect(await harness.cards.events.storeEvents([event])).toEqual([]);
    expect((await harness.processEvents([event.id])).rcsDelivered).toEqual([card.id]);
    expect((await harness.processEvents([event.id])).rcsDelivered).toEqual([]);
    expect(
      await harness.database.query('SELECT id FROM card_events WHERE message_id = $1', [messageIdOf(card.id, 'card')]),
    ).toEqual([{ id: event.id }]);
  });

  it('is stored without content but the choice of a tap', async () => {
    const card = await harness.sent({ numberMatching: true });
    const tap = harness.tapOn(card, { kind: 'number', number: '42' });
    const text = harness.eventOf(card, 'text', { messageId: null });
    const typing = harness.eventOf(card, 'typing', { messageId: null });
    await harness.storeAndProcess(tap, text, typing);
    const rows = await harness.database.query(
      'SELECT kind, choice, outcome FROM card_events WHERE phone = $1 ORDER BY kind',
      [card.phone],
    );
    expect(rows).toEqual([
      { kind: 'tap', choice: 'n42', outcome: expect.any(String) as string },
      { kind: 'text', choice: null, outcome: 'ignored' },
      { kind: 'typing', choice: null, outcome: 'ignored' },
    ]);
  });

  it('of a message that is not a card is stored and changes nothing', async () => {
    const card = await harness.sent();
    const events = [
      harness.eventOf(card, 'delivered', { messageId: messageIdOf(card.id, 'closing') }),
      harness.eventOf(card, 'read', { messageId: null }),
    ];
    await harness.storeAndProcess(...events);
    expect(await harness.outcomesOf(events)).toEqual(['unknown_card', 'unknown_card']);
    expect(await stateOf(card)).toBe('sms_fallback pending');
  });

  it('that its gateway left unprocessed is found by another, the oldest first', async () => {
    const cards = [await harness.sent(), await harness.sent()];
    const ids = await harness.cards.events.storeEvents(cards.map((card) => harness.eventOf(card, 'delivered')));
    const found = await harness.database.transaction((tx) => harness.cards.events.claimOldestEvents(tx, 1));
    expect(found.map(({ id }) => id)).toEqual([...ids].sort().slice(0, 1));
    expect(await harness.database.transaction((tx) => harness.cards.events.claimEvents(tx, []))).toEqual([]);
  });

  it('that another transaction has claimed is skipped', async () => {
    const card = await harness.sent();
    const ids = await harness.cards.events.storeEvents([harness.eventOf(card, 'delivered')]);
    await harness.database.transaction(async (tx) => {
      expect(await harness.cards.events.claimEvents(tx, ids)).toHaveLength(1);
      expect((await harness.processEvents(ids)).rcsDelivered).toEqual([]);
    });
    expect((await harness.processEvents(ids)).rcsDelivered).toEqual([card.id]);
  });

  it('of an agent that is older than its known state changes nothing', async () => {
    const card = await harness.draftCard({ agentId: 'late_agent' });
    const at = (ms: number, launchState: string): Promise<unknown> =>
      harness.storeAndProcess(
        harness.eventOf(card, 'agent', {
          phone: null,
          messageId: null,
          launchState,
          occurredAt: new Date(harness.clock.nowMs() + ms),
        }),
      );
    await at(0, 'LAUNCHED');
    await at(-60_000, 'SUSPENDED');
    await at(-3 * 24 * 3_600_000, 'SUSPENDED');
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'offered' });
  });

  it('of a subscription that is older than the unsubscription changes nothing', async () => {
    const card = await harness.draftCard({ agentId: 'stopped_agent' });
    const changed = (kind: 'subscribed' | 'unsubscribed', msAgo: number): NewCardEvent =>
      harness.eventOf(card, kind, { messageId: null, occurredAt: new Date(harness.clock.nowMs() - msAgo) });
    await harness.storeAndProcess(changed('unsubscribed', 60_000));
    await harness.storeAndProcess(changed('subscribed', 90_000));
    await harness.storeAndProcess(changed('subscribed', 3 * 24 * 3_600_000));
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'refused', because: 'prefers_sms' });
    await harness.storeAndProcess(
      changed('subscribed', 3 * 24 * 3_600_000),
      changed('subscribed', 30_000),
      changed('unsubscribed', 45_000),
    );
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'offered' });
  });
});
