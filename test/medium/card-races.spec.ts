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

/** Both at the same time, the first to be asked in turn. */
const atOnce = <A, B>(round: number, one: () => Promise<A>, other: () => Promise<B>): Promise<readonly [A, B]> => {
  if (round % 2 === 0) return Promise.all([one(), other()]);
  return Promise.all([other(), one()]).then(([second, first]) => [first, second] as const);
};

describe('whoever settles a card first has settled it for all', () => {
  it('an arrival and the deadline of the request agree on the channel', async () => {
    await rounds(async (round) => {
      const card = await harness.sent();
      const ids = await harness.cards.events.storeEvents([harness.eventOf(card, 'delivered')]);
      const [settled, { rcsDelivered, cardOutcomes }] = await atOnce(
        round,
        () => others.offers.settleChannel(card.id),
        () => harness.decide(ids),
      );
      expect(await channelOf(card)).toBe(settled);
      expect(rcsDelivered).toEqual(settled === 'rcs' ? [card.id] : []);
      expect(cardOutcomes).toHaveLength(settled === 'rcs' ? 1 : 0);
      // Either way it has arrived: nothing is left to revoke.
      expect((await harness.cardOf(card.id))?.errand).toBeNull();
    });
  });

  it('a tap and the deadline agree too, and the tap counts either way', async () => {
    await rounds(async (round) => {
      const card = await harness.sent();
      const ids = await harness.cards.events.storeEvents([harness.tapOn(card, { kind: 'approve' })]);
      const [settled, { ended }] = await atOnce(
        round,
        () => others.offers.settleChannel(card.id),
        () => harness.decide(ids),
      );
      expect(ended).toEqual([card.id]);
      expect(await harness.sessionOf(card)).toMatchObject({ status: 'approved', channel: settled });
      expect((await harness.cardOf(card.id))?.errand).toBe('close_approved');
    });
  });

  it('two arrivals at two gateways are one', async () => {
    await rounds(async () => {
      const card = await harness.sent();
      const events = [harness.eventOf(card, 'delivered'), harness.eventOf(card, 'read')];
      const [one = '', other = ''] = await harness.cards.events.storeEvents(events);
      const decided = await Promise.all([harness.decide([one]), harness.decide([other])]);
      expect(decided.flatMap(({ rcsDelivered }) => rcsDelivered)).toEqual([card.id]);
      expect(decided.flatMap(({ arrivals }) => arrivals)).toHaveLength(1);
      expect(await harness.outcomesOf(events)).not.toContain(null);
    });
  });

  it('the same event at two gateways is applied by one of them', async () => {
    await rounds(async () => {
      const card = await harness.sent();
      const tap = harness.tapOn(card, { kind: 'deny' });
      const stored = await Promise.all([harness.cards.events.storeEvents([tap]), others.events.storeEvents([tap])]);
      expect(stored.flat()).toEqual([tap.id]);
      const decided = await Promise.all([harness.decide([tap.id]), harness.decide([tap.id])]);
      expect(decided.flatMap(({ ended }) => ended)).toEqual([card.id]);
      expect(
        await harness.database.query('SELECT cardinality(denials) AS denials FROM card_phones WHERE phone = $1', [
          card.phone,
        ]),
      ).toEqual([{ denials: 1 }]);
    });
  });

  it('a gateway takes an offer or it is withdrawn, never both', async () => {
    const seen = new Set<string>();
    await rounds(async (round) => {
      const card = await harness.offered();
      await harness.database.query(`UPDATE cards SET created_at = now() + interval '1 hour' WHERE id = $1`, [card.id]);
      const [withdrawal, claimed] = await atOnce(
        round,
        () => harness.cards.offers.withdrawUnclaimed(card.id),
        () => others.sends.claimOffers([card.id]),
      );
      expect(claimed).toHaveLength(withdrawal === 'claimed' ? 1 : 0);
      seen.add(withdrawal);
    });
    expect([...seen].every((each) => each === 'claimed' || each === 'withdrawn')).toBe(true);
  });

  it('an outcome and the deadline leave a card that may arrive to be revoked, and no other', async () => {
    await rounds(async (round) => {
      const [sent, refused] = [await harness.sending(), await harness.sending()];
      await atOnce(
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
        errand: 'revoke',
      });
      expect(await harness.cardOf(refused.id)).toMatchObject({ state: 'refused', errand: null });
    });
  });
});

describe('many cards at once', () => {
  it('of few phones, offered, settled, told of and tapped in every order, end without a deadlock', async () => {
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
      Promise.all(cards.map(({ id }, at) => (at % 2 === 0 ? harness.cards : others).offers.settleChannel(id))),
      harness.tell(...events.slice(0, half)),
      harness.tell(...events.slice(half).reverse()),
      Promise.all(
        cards
          .filter((_, at) => at % 5 === 0)
          .map(({ accountId, id }) => harness.sessions.cancel(liveTenant(accountId), id)),
      ),
      Promise.all(phones.map(async (phone) => others.offers.offerCard(await harness.draftCard({ phone })))),
      harness.database.transaction((tx) =>
        others.offers.revokeCardsOfEndedSessions(
          tx,
          cards.map(({ id }) => id),
        ),
      ),
    ]);
    const channels = new Map<Uuid, FinalChannel>(cards.map(({ id }, at) => [id, settled[at] ?? 'sms_fallback']));
    for (const card of cards) {
      const session = await harness.sessionOf(card);
      expect(session?.channel).toBe(channels.get(card.id));
      expect(session?.status).not.toBe('pending');
    }
    expect(await harness.outcomesOf(events)).not.toContain(null);
  });
});
