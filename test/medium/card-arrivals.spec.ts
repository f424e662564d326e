import type { PreparedArrivals } from '@countersign/rcs/events';
import { messageIdOf, type NewCardEvent } from '@countersign/rcs/rules';
import { newId, type Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';

const ROUNDS = 20;

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness({ poolMax: 16 });
});
afterAll(() => harness.close());

interface Taken extends PreparedArrivals {
  /** Still to be acted on. */
  readonly waiting: readonly Uuid[];
}

/** Does what a gateway does with events that come in, by its own store or another's. */
const take = (events: readonly NewCardEvent[], cards = harness.cards): Promise<Taken> =>
  harness.database.readThenWrite(
    (tx) => cards.arrivals.prepareArrivals(tx, events),
    async (tx, judged) => {
      const [waiting] = await Promise.all([
        cards.arrivals.storeArrivals(tx, judged),
        harness.sessions.markRcsDelivered(tx, judged.rcsDelivered),
      ]);
      return { ...judged, waiting };
    },
  );

describe('an event that says that a card has arrived', () => {
  it.each(['delivered', 'read'] as const)('%s is acted on in the transaction that stores it', async (kind) => {
    const card = await harness.sent();
    const event = harness.eventOf(card, kind);
    const taken = await take([event]);
    expect(taken.waiting).toEqual([]);
    expect(taken).toMatchObject({
      rcsDelivered: [card.id],
      cardOutcomes: [{ id: card.id, originProcess: harness.originProcess, news: 'rcs' }],
    });
    expect(taken.arrivals).toMatchObject([{ cardId: card.id }]);
    expect(await harness.outcomesOf([event])).toEqual([kind]);
    expect((await harness.sessionOf(card))?.channel).toBe('rcs');
    expect(await harness.cardOf(card.id)).toMatchObject({ finalChannel: 'rcs', deliveredAt: expect.any(Date) as Date });
    expect((await harness.decide([event.id])).cardOutcomes).toEqual([]);
  });

  it('and comes again says nothing new', async () => {
    const card = await harness.sent();
    const event = harness.eventOf(card, 'delivered');
    await take([event]);
    expect(await take([event])).toMatchObject({ waiting: [], rcsDelivered: [], cardOutcomes: [], arrivals: [] });
    expect(await harness.outcomesOf([event])).toEqual(['delivered']);
  });

  it('of another agent or phone is kept, and changes nothing', async () => {
    const card = await harness.sent();
    const events = [
      harness.eventOf(card, 'delivered', { agentId: 'another_agent' }),
      harness.eventOf(card, 'delivered', { phone: harness.freshPhone() }),
    ];
    expect(await take(events)).toMatchObject({ waiting: [], rcsDelivered: [], cardOutcomes: [] });
    expect(await harness.outcomesOf(events)).toEqual(['other_agent', 'other_phone']);
    expect((await harness.sessionOf(card))?.channel).toBe('sms_fallback');
  });

  it('says that it was sent, too, where nobody has recorded that yet', async () => {
    const card = await harness.sending();
    await take([harness.eventOf(card, 'delivered')]);
    const found = await harness.cardOf(card.id);
    expect(found).toMatchObject({ state: 'sent', sentAt: expect.any(Date) as Date });
    const lost = { kind: 'unknown', because: 'timeout' } as const;
    expect(await harness.cards.sends.recordSendOutcomes([{ id: card.id, outcome: lost }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await harness.cardOf(card.id)).toEqual({ ...found, refusal: 'timeout' });
  });
});

describe('what cannot be acted on where it is stored waits', () => {
  it('while another holds the card', async () => {
    const card = await harness.sent();
    const event = harness.eventOf(card, 'delivered');
    await harness.database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM cards WHERE id = $1 FOR UPDATE', [card.id]);
      expect(await take([event])).toMatchObject({ waiting: [event.id], rcsDelivered: [], cardOutcomes: [] });
    });
    expect(await harness.outcomesOf([event])).toEqual([null]);
    expect((await harness.decide([event.id])).rcsDelivered).toEqual([card.id]);
  });

  it('when its card is so old that nobody waits for it', async () => {
    const card = await harness.sent({ id: newId(harness.clock.nowMs() - 600_000) });
    const event = harness.eventOf(card, 'read');
    expect(await take([event])).toMatchObject({ waiting: [event.id], rcsDelivered: [] });
    expect((await harness.decide([event.id])).rcsDelivered).toEqual([card.id]);
  });

  it('when it is about something else', async () => {
    const card = await harness.sent();
    const [delivered, ...others] = [
      harness.eventOf(card, 'delivered'),
      harness.tapOn(card, { kind: 'deny' }),
      harness.eventOf(card, 'delivered', { messageId: messageIdOf(card.id, 'closing') }),
      harness.eventOf(card, 'typing', { messageId: null }),
    ];
    const { waiting, rcsDelivered } = await take([delivered, ...others]);
    expect(rcsDelivered).toEqual([card.id]);
    expect([...waiting].sort()).toEqual(others.map(({ id }) => id).sort());
    expect((await harness.decide(waiting)).ended).toEqual([card.id]);
    expect(await harness.outcomesOf([delivered, ...others])).toEqual([
      'delivered',
      'denied',
      'unknown_card',
      'ignored',
    ]);
  });
});

describe('an arrival among other things of the same moment', () => {
  it('agrees with the deadline of the request on the channel', async () => {
    const others = harness.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const card = await harness.sent();
      const event = harness.eventOf(card, 'delivered');
      const [settled, { rcsDelivered, waiting }] = await Promise.all([
        others.offers.settleChannel(card.id),
        take([event]),
      ]);
      const later = await harness.decide(waiting);
      expect((await harness.sessionOf(card))?.channel).toBe(settled);
      expect([...rcsDelivered, ...later.rcsDelivered]).toEqual(settled === 'rcs' ? [card.id] : []);
      expect((await harness.cardOf(card.id))?.errand).toBeNull();
    }
  });

  it('that is told at two gateways counts once', async () => {
    const others = harness.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const cards = [await harness.sent(), await harness.sent(), await harness.sent()];
      const events = cards.map((card) => harness.eventOf(card, 'delivered'));
      const taken = await Promise.all([take(events), take([...events].reverse(), others)]);
      const later = await harness.decide(taken.flatMap(({ waiting }) => waiting));
      const arrivals = [...taken, later].flatMap((each) => each.arrivals.map(({ cardId }) => cardId));
      expect(arrivals.sort()).toEqual(cards.map(({ id }) => id).sort());
      expect(await harness.outcomesOf(events)).not.toContain(null);
    }
  });
});
