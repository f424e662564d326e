import type { NewCard, FinalChannel } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CardStores } from '../support/card-stores.js';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';
import { liveTenant } from '../support/tenants.js';

const ROUNDS = 20;

let harness: CardHarness;
let others: CardStores;

beforeAll(async () => {
  harness = await openCardHarness({ poolMax: 16 });
  others = harness.otherCards();
});
afterAll(() => harness.close());

const rounds = async (work: (round: number) => Promise<void>): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) await work(round);
};

const channelOf = async (card: NewCard): Promise<string | undefined> => (await harness.sessionOf(card))?.channel;

/** Runs both concurrently; the first to start alternates with the round. */
const concurrently = <A, B>(
  round: number,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<readonly [A, B]> => {
  if (round % 2 === 0) return Promise.all([first(), second()]);
  return Promise.all([second(), first()]).then(([b, a]) => [a, b] as const);
};

describe('the first settlement of a card is final', () => {
  it('an arrival and the deadline of the create come to the same channel', async () => {
    await rounds(async (round) => {
      const card = await harness.sent();
      const ids = await harness.cards.events.storeEvents([harness.eventOf(card, 'delivered')]);
      const [settled, { rcsDelivered, cardOutcomes }] = await concurrently(
        round,
        () => others.offers.settleChannel(card.id),
        () => harness.processEvents(ids),
      );
      expect(await channelOf(card)).toBe(settled);
      expect(rcsDelivered).toEqual(settled === 'rcs' ? [card.id] : []);
      expect(cardOutcomes).toHaveLength(settled === 'rcs' ? 1 : 0);
      // The card has arrived in both cases, so no revoke is due.
      expect((await harness.cardOf(card.id))?.command).toBeNull();
    });
  });

  it('a tap and the deadline come to the same channel, and the tap counts in both cases', async () => {
    await rounds(async (round) => {
      const card = await harness.sent();
      const ids = await harness.cards.events.storeEvents([harness.tapOn(card, { kind: 'approve' })]);
      const [settled, { ended }] = await concurrently(
        round,
        () => others.offers.settleChannel(card.id),
        () => harness.processEvents(ids),
      );
      expect(ended).toEqual([card.id]);
      expect(await harness.sessionOf(card)).toMatchObject({ status: 'approved', channel: settled });
      expect((await harness.cardOf(card.id))?.command).toBe('close_approved');
    });
  });

  it('two arrival events at two gateways are one arrival', async () => {
    await rounds(async () => {
      const card = await harness.sent();
      const events = [harness.eventOf(card, 'delivered'), harness.eventOf(card, 'read')];
      const [delivered = '', read = ''] = await harness.cards.events.storeEvents(events);
      const decided = await Promise.all([harness.processEvents([delivered]), harness.processEvents([read])]);
      expect(decided.flatMap(({ rcsDelivered }) => rcsDelivered)).toEqual([card.id]);
      expect(decided.flatMap(({ arrivals }) => arrivals)).toHaveLength(1);
      expect(await harness.outcomesOf(events)).not.toContain(null);
    });
  });

  it('the same event at two gateways is applied once', async () => {
    await rounds(async () => {
      const card = await harness.sent();
      const tap = harness.tapOn(card, { kind: 'deny' });
      const stored = await Promise.all([harness.cards.events.storeEvents([tap]), others.events.storeEvents([tap])]);
      expect(stored.flat()).toEqual([tap.id]);
      const decided = await Promise.all([harness.processEvents([tap.id]), harness.processEvents([tap.id])]);
      expect(decided.flatMap(({ ended }) => ended)).toEqual([card.id]);
      expect(
        await harness.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
          card.phone,
        ]),
      ).toEqual([{ denials: 1 }]);
    });
  });

  it('an offer is either claimed or withdrawn', async () => {
    const results = new Set<string>();
    await rounds(async (round) => {
      const card = await harness.offered();
      await harness.database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [card.id]);
      const [withdrawal, claimed] = await concurrently(
        round,
        () => harness.cards.offers.withdrawUnclaimed(card.id),
        () => others.sends.claimOffers([card.id]),
      );
      expect(claimed).toHaveLength(withdrawal === 'claimed' ? 1 : 0);
      results.add(withdrawal);
    });
    expect([...results].every((result) => result === 'claimed' || result === 'withdrawn')).toBe(true);
  });

  it('an outcome and the deadline make a revoke due only for a card that may arrive', async () => {
    await rounds(async (round) => {
      const [sent, refused] = [await harness.sending(), await harness.sending()];
      await concurrently(
        round,
        () => Promise.all([others.offers.settleChannel(sent.id), others.offers.settleChannel(refused.id)]),
        () =>
          harness.cards.sends.recordSendOutcomes([
            { id: refused.id, outcome: { kind: 'unreachable' } },
            { id: sent.id, outcome: { kind: 'sent' } },
          ]),
      );
      expect(await harness.cardOf(sent.id)).toMatchObject({
        state: 'sent',
        finalChannel: 'sms_fallback',
        command: 'revoke',
      });
      expect(await harness.cardOf(refused.id)).toMatchObject({ state: 'refused', command: null });
    });
  });
});

describe('many concurrent cards', () => {
  it('of few phones, offered, settled, delivered and tapped in any order, end without a deadlock', async () => {
    const phones = Array.from({ length: 30 }, () => harness.freshPhone());
    const cards = (
      await Promise.all(
        phones.flatMap((phone) => [harness.sent({ phone }), harness.sent({ phone }), harness.sent({ phone })]),
      )
    ).sort(() => Math.random() - 0.5);
    const events = cards.flatMap((card) => [
      harness.eventOf(card, 'delivered'),
      harness.tapOn(card, { kind: card.id < (cards[0]?.id ?? '') ? 'approve' : 'deny' }),
    ]);
    const half = events.length / 2;
    const [settled] = await Promise.all([
      Promise.all(cards.map(({ id }, index) => (index % 2 === 0 ? harness.cards : others).offers.settleChannel(id))),
      harness.storeAndProcess(...events.slice(0, half)),
      harness.storeAndProcess(...events.slice(half).reverse()),
      Promise.all(
        cards
          .filter((_, index) => index % 5 === 0)
          .map(({ accountId, id }) => harness.sessions.cancel(liveTenant(accountId), id)),
      ),
      Promise.all(phones.map(async (phone) => others.offers.offerCard(await harness.draftCard({ phone })))),
      harness.database.transaction((tx) =>
        others.offers.requestRevokesOfEndedSessions(
          tx,
          cards.map(({ id }) => id),
        ),
      ),
    ]);
    const channels = new Map<Uuid, FinalChannel>(cards.map(({ id }, index) => [id, settled[index] ?? 'sms_fallback']));
    for (const card of cards) {
      const session = await harness.sessionOf(card);
      const settledAs = channels.get(card.id);
      // A session that was cancelled before its card arrived keeps its published channel.
      const possible = session?.status === 'cancelled' ? [settledAs, 'sms_fallback'] : [settledAs];
      expect(possible).toContain(session?.channel);
      expect(session?.status).not.toBe('pending');
    }
    expect(await harness.outcomesOf(events)).not.toContain(null);
  });
});
