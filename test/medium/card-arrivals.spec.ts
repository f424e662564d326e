import { messageIdOf, type JudgedArrivals, type NewCardEvent } from '@countersign/cards';
import { newId, type Uuid } from '@countersign/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardRoom, type CardRoom } from '../support/card-room.js';

const ROUNDS = 20;

let room: CardRoom;

beforeAll(async () => {
  room = await openCardRoom({ poolMax: 16 });
});
afterAll(() => room.close());

interface Taken extends JudgedArrivals {
  /** Still to be acted on. */
  readonly waiting: readonly Uuid[];
}

/** Does what a gateway does with events that come in, by its own store or another's. */
const take = (events: readonly NewCardEvent[], cards = room.cards): Promise<Taken> =>
  room.database.readThenWrite(
    (tx) => cards.judgeArrivals(tx, events),
    async (tx, judged) => {
      const [waiting] = await Promise.all([
        cards.storeArrivals(tx, judged),
        room.sessions.chooseRcs(tx, judged.chosen),
      ]);
      return { ...judged, waiting };
    },
  );

describe('an event that says that a card has arrived', () => {
  it.each(['delivered', 'read'] as const)('%s is acted on in the transaction that stores it', async (kind) => {
    const card = await room.sent();
    const event = room.eventOf(card, kind);
    const taken = await take([event]);
    expect(taken.waiting).toEqual([]);
    expect(taken).toMatchObject({ chosen: [card.id], news: [{ id: card.id, waiter: room.waiter, news: 'rcs' }] });
    expect(taken.arrivals).toMatchObject([{ cardId: card.id }]);
    expect(await room.outcomesOf([event])).toEqual([kind]);
    expect((await room.sessionOf(card))?.channel).toBe('rcs');
    expect(await room.cardOf(card.id)).toMatchObject({ settledAs: 'rcs', deliveredAt: expect.any(Date) as Date });
    expect((await room.decide([event.id])).news).toEqual([]);
  });

  it('and comes again says nothing new', async () => {
    const card = await room.sent();
    const event = room.eventOf(card, 'delivered');
    await take([event]);
    expect(await take([event])).toMatchObject({ waiting: [], chosen: [], news: [], arrivals: [] });
    expect(await room.outcomesOf([event])).toEqual(['delivered']);
  });

  it('of another agent or phone is kept, and changes nothing', async () => {
    const card = await room.sent();
    const events = [
      room.eventOf(card, 'delivered', { agentId: 'another_agent' }),
      room.eventOf(card, 'delivered', { phone: room.freshPhone() }),
    ];
    expect(await take(events)).toMatchObject({ waiting: [], chosen: [], news: [] });
    expect(await room.outcomesOf(events)).toEqual(['other_agent', 'other_phone']);
    expect((await room.sessionOf(card))?.channel).toBe('sms_fallback');
  });

  it('says that it was sent, too, where nobody has recorded that yet', async () => {
    const card = await room.sending();
    await take([room.eventOf(card, 'delivered')]);
    const found = await room.cardOf(card.id);
    expect(found).toMatchObject({ state: 'sent', sentAt: expect.any(Date) as Date });
    const lost = { kind: 'unknown', because: 'timeout' } as const;
    expect(await room.cards.recordOutcomes([{ id: card.id, outcome: lost }])).toMatchObject([{ news: 'rcs' }]);
    expect(await room.cardOf(card.id)).toEqual({ ...found, refusal: 'timeout' });
  });
});

describe('what cannot be acted on where it is stored waits', () => {
  it('while another holds the card', async () => {
    const card = await room.sent();
    const event = room.eventOf(card, 'delivered');
    await room.database.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM cards WHERE id = $1 FOR UPDATE', [card.id]);
      expect(await take([event])).toMatchObject({ waiting: [event.id], chosen: [], news: [] });
    });
    expect(await room.outcomesOf([event])).toEqual([null]);
    expect((await room.decide([event.id])).chosen).toEqual([card.id]);
  });

  it('when its card is so old that nobody waits for it', async () => {
    const card = await room.sent({ id: newId(room.clock.nowMs() - 600_000) });
    const event = room.eventOf(card, 'read');
    expect(await take([event])).toMatchObject({ waiting: [event.id], chosen: [] });
    expect((await room.decide([event.id])).chosen).toEqual([card.id]);
  });

  it('when it is about something else', async () => {
    const card = await room.sent();
    const [delivered, ...others] = [
      room.eventOf(card, 'delivered'),
      room.tapOn(card, { kind: 'deny' }),
      room.eventOf(card, 'delivered', { messageId: messageIdOf(card.id, 'closing') }),
      room.eventOf(card, 'typing', { messageId: null }),
    ];
    const { waiting, chosen } = await take([delivered, ...others]);
    expect(chosen).toEqual([card.id]);
    expect([...waiting].sort()).toEqual(others.map(({ id }) => id).sort());
    expect((await room.decide(waiting)).ended).toEqual([card.id]);
    expect(await room.outcomesOf([delivered, ...others])).toEqual(['delivered', 'denied', 'unknown_card', 'ignored']);
  });
});

describe('an arrival among other things of the same moment', () => {
  it('agrees with the deadline of the request on the channel', async () => {
    const others = room.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const card = await room.sent();
      const event = room.eventOf(card, 'delivered');
      const [settled, { chosen, waiting }] = await Promise.all([others.settle(card.id), take([event])]);
      const later = await room.decide(waiting);
      expect((await room.sessionOf(card))?.channel).toBe(settled);
      expect([...chosen, ...later.chosen]).toEqual(settled === 'rcs' ? [card.id] : []);
      expect((await room.cardOf(card.id))?.errand).toBeNull();
    }
  });

  it('that is told at two gateways counts once', async () => {
    const others = room.otherCards();
    for (let round = 0; round < ROUNDS; round += 1) {
      const cards = [await room.sent(), await room.sent(), await room.sent()];
      const events = cards.map((card) => room.eventOf(card, 'delivered'));
      const taken = await Promise.all([take(events), take([...events].reverse(), others)]);
      const later = await room.decide(taken.flatMap(({ waiting }) => waiting));
      const arrivals = [...taken, later].flatMap((each) => each.arrivals.map(({ cardId }) => cardId));
      expect(arrivals.sort()).toEqual(cards.map(({ id }) => id).sort());
      expect(await room.outcomesOf(events)).not.toContain(null);
    }
  });
});
