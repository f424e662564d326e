import type { PreparedArrivals } from '@countersign/rcs/events';
import { messageIdOf, type NewCardEvent } from '@countersign/rcs/rules';
import { newId, type Uuid } from '@countersign/ids';
import { together } from '@countersign/postgres/statements';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';

const ROUNDS = 20;

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness({ poolMax: 16 });
});
afterAll(() => harness.close());

interface Stored extends PreparedArrivals {
  /** Events that remain to be processed. */
  readonly unprocessed: readonly Uuid[];
}

/** Stores events as a gateway does, with the stores of this or another process. */
const storeEvents = (events: readonly NewCardEvent[], cards = harness.cards): Promise<Stored> =>
  harness.database.readThenWrite(
    (tx) => cards.arrivals.prepareArrivals(tx, events),
    (prepared) =>
      together(
        cards.arrivals.storeArrivals(prepared),
        harness.sessions.markRcsDelivered(prepared.rcsDelivered),
        (unprocessed): Stored => ({ ...prepared, unprocessed }),
      ),
  );

describe('an arrival event', () => {
  it.each(['delivered', 'read'] as const)('%s is processed in the transaction that stores it', async (kind) => {
    const card = await harness.sent();
    const event = harness.eventOf(card, kind);
    const stored = await storeEvents([event]);
    expect(stored.unprocessed).toEqual([]);
    expect(stored).toMatchObject({
      rcsDelivered: [card.id],
      cardOutcomes: [{ id: card.id, originProcess: harness.originProcess, news: 'rcs' }],
    });
    expect(stored.arrivals).toMatchObject([{ cardId: card.id }]);
    expect(await harness.outcomesOf([event])).toEqual([kind]);
    expect((await harness.sessionOf(card))?.channel).toBe('rcs');
    expect(await harness.cardOf(card.id)).toMatchObject({ finalChannel: 'rcs', deliveredAt: expect.any(Date) as Date });
    expect((await harness.processEvents([event.id])).cardOutcomes).toEqual([]);
  });

  it('that is repeated changes nothing', async () => {
    const card = await harness.sent();
    const event = harness.eventOf(card, 'delivered');
    await storeEvents([event]);
    expect(await storeEvents([event])).toMatchObject({
      unprocessed: [],
      rcsDelivered: [],
      cardOutcomes: [],
      arrivals: [],
    });
    expect(await harness.outcomesOf([event])).toEqual(['delivered']);
  });

  it('of another agent or phone is stored and changes nothing', async () => {
    const card = await harness.sent();
    const events = [
      harness.eventOf(card, 'delivered', { agentId: 'another_agent' }),
      harness.eventOf(card, 'delivered', { phone: harness.freshPhone() }),
    ];
    expect(await storeEvents(events)).toMatchObject({ unprocessed: [], rcsDelivered: [], cardOutcomes: [] });
    expect(await harness.outcomesOf(events)).toEqual(['other_agent', 'other_phone']);
    expect((await harness.sessionOf(card))?.channel).toBe('sms_fallback');
  });

  it('also records the send when that is not recorded yet', async () => {
    const card = await harness.sending();
    await storeEvents([harness.eventOf(card, 'delivered')]);
    const found = await harness.cardOf(card.id);
    expect(found).toMatchObject({ state: 'sent', sentAt: expect.any(Date) as Date });
    const lost = { kind: 'unknown', because: 'timeout' } as const;
    expect(await harness.cards.sends.recordSendOutcomes([{ id: card.id, outcome: lost }])).toMatchObject([
      { news: 'rcs' },
    ]);
    expect(await harness.cardOf(card.id)).toEqual({ ...found, refusal: 'timeout' });
  });
});

describe('an event is stored for later processing', () => {
  it('while another transaction has locked the card', async () => {
    const card = await harness.sent();
    const event = harness.eventOf(card, 'delivered');
    await harness.database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM cards WHERE id = $1 FOR UPDATE', [card.id]);
      expect(await storeEvents([event])).toMatchObject({ unprocessed: [event.id], rcsDelivered: [], cardOutcomes: [] });
    });
    expect(await harness.outcomesOf([event])).toEqual([null]);
    expect((await harness.processEvents([event.id])).rcsDelivered).toEqual([card.id]);
  });

  it('when its card is older than any unprocessed create', async () => {
    const card = await harness.sent({ id: newId(harness.clock.nowMs() - 600_000) });
    const event = harness.eventOf(card, 'read');
    expect(await storeEvents([event])).toMatchObject({ unprocessed: [event.id], rcsDelivered: [] });
    expect((await harness.processEvents([event.id])).rcsDelivered).toEqual([card.id]);
  });

  it('when it is not the arrival of a card', async () => {
    const card = await harness.sent();
    const [delivered, ...others] = [
      harness.eventOf(card, 'delivered'),
      harness.tapOn(card, { kind: 'deny' }),
      harness.eventOf(card, 'delivered', { messageId: messageIdOf(card.id, 'closing') }),
      harness.eventOf(card, 'typing', { messageId: null }),
    ];
    const { unprocessed, rcsDelivered } = await storeEvents([delivered, ...others]);
    expect(rcsDelivered).toEqual([card.id]);
    expect([...unprocessed].sort()).toEqual(others.map(({ id }) => id).sort());
    expect((await harness.processEvents(unprocessed)).ended).toEqual([card.id]);
    expect(await harness.outcomesOf([delivered, ...others])).toEqual([
      'delivered',
      'denied',
      'unknown_card',
      'ignored',
    ]);
  });
});

describe('a concurrent arrival', () => {
  it('and the deadline of the create come to the same channel', async () => {
    const others = harness.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const card = await harness.sent();
      const event = harness.eventOf(card, 'delivered');
      const [settled, { rcsDelivered, unprocessed }] = await Promise.all([
        others.offers.settleChannel(card.id),
        storeEvents([event]),
      ]);
      const later = await harness.processEvents(unprocessed);
      expect((await harness.sessionOf(card))?.channel).toBe(settled);
      expect([...rcsDelivered, ...later.rcsDelivered]).toEqual(settled === 'rcs' ? [card.id] : []);
      expect((await harness.cardOf(card.id))?.command).toBeNull();
    }
  });

  it('at two gateways counts once', async () => {
    const others = harness.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const cards = [await harness.sent(), await harness.sent(), await harness.sent()];
      const events = cards.map((card) => harness.eventOf(card, 'delivered'));
      const stored = await Promise.all([storeEvents(events), storeEvents([...events].reverse(), others)]);
      const later = await harness.processEvents(stored.flatMap(({ unprocessed }) => unprocessed));
      const arrivals = [...stored, later].flatMap((result) => result.arrivals.map(({ cardId }) => cardId));
      expect(arrivals.sort()).toEqual(cards.map(({ id }) => id).sort());
      expect(await harness.outcomesOf(events)).not.toContain(null);
    }
  });
});
