import type { OfferResult } from '@countersign/rcs/offers';
import type { NewCard } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT, openCardHarness, type CardHarness } from '../support/card-harness.js';

const MINUTE_MS = 60_000;

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness();
});
afterAll(() => harness.close());

const offer = async (changes: Partial<NewCard> = {}): Promise<OfferResult> =>
  harness.cards.offers.offerCard(await harness.draftCard(changes));

const refused = (because: string): unknown => ({ kind: 'refused', because });

const recentOf = async (phone: string): Promise<Uuid[]> => {
  const [row] = await harness.database.query<{ recent: Uuid[] }>('SELECT recent FROM card_phones WHERE phone = $1', [
    phone,
  ]);
  return row?.recent ?? [];
};

/** An id of this age. */
const olderId = (ms: number): Uuid => {
  const now = harness.clock.newId();
  const time = (harness.clock.nowMs() - ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${now.slice(13)}`;
};

describe('a card that is offered', () => {
  it('waits for a gateway with copied values and the plain agent id', async () => {
    const card = await harness.draftCard({
      agentId: `${AGENT}@rbm.goog`,
      logoUrl: 'https://acme.example/l.png',
      numberMatching: true,
    });
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'offered' });
    const claimed = await harness.claim(card.id);
    const messageId = expect.stringMatching(/^[0-9a-f-]{14}5[0-9a-f-]+$/) as string;
    expect(claimed).toEqual({ ...card, agentId: AGENT, messageId });
  });

  it('is not counted and not sent again when its request is repeated', async () => {
    const card = await harness.offered();
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'earlier', finalChannel: null });
    expect(await recentOf(card.phone)).toEqual([card.id]);
    await harness.cards.offers.settleChannel(card.id);
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'earlier', finalChannel: 'sms_fallback' });
  });

  it('is offered once when two processes offer it concurrently', async () => {
    const card = await harness.draftCard();
    const results = await Promise.all(
      [harness.cards, harness.otherCards()].map((cards) => cards.offers.offerCard(card)),
    );
    expect(results.map(({ kind }) => kind).sort()).toEqual(['earlier', 'offered']);
  });

  it('is refused while the card queue is paused', async () => {
    await harness.database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'cards'`);
    try {
      expect(await offer()).toEqual(refused('paused'));
    } finally {
      await harness.database.query(`UPDATE queue_switches SET paused_at = NULL WHERE name = 'cards'`);
    }
  });

  it('is refused while its agent is suspended, until it is launched again', async () => {
    const agentId = 'suspended_agent';
    const card = await harness.draftCard({ agentId });
    const changeTo = (launchState: string): Promise<unknown> =>
      harness.storeAndProcess(harness.eventOf(card, 'agent', { phone: null, messageId: null, launchState }));
    await changeTo('SUSPENDED');
    expect(await offer({ agentId })).toEqual(refused('agent_suspended'));
    // A launch state from another carrier.
    await changeTo('PENDING');
    expect(await offer({ agentId })).toEqual(refused('agent_suspended'));
    await changeTo('LAUNCHED');
    expect(await offer({ agentId })).toEqual({ kind: 'offered' });
  });

  it('is refused to a phone that unsubscribed from its agent, until it subscribes again', async () => {
    const card = await harness.offered();
    const { phone } = card;
    await harness.storeAndProcess(harness.eventOf(card, 'unsubscribed', { messageId: null }));
    expect(await offer({ phone })).toEqual(refused('prefers_sms'));
    expect(await offer({ phone, agentId: 'another_agent' })).toEqual({ kind: 'offered' });
    await harness.storeAndProcess(harness.eventOf(card, 'subscribed', { messageId: null }));
    expect(await offer({ phone })).toEqual({ kind: 'offered' });
  });

  it('is refused for a while to a phone that its agent could not reach', async () => {
    const { id, phone } = await harness.sending();
    await harness.cards.sends.recordSendOutcomes([{ id, outcome: { kind: 'unreachable' } }]);
    expect(await offer({ phone })).toEqual(refused('unreachable'));
    expect(await offer({ phone, agentId: 'another_agent' })).toEqual({ kind: 'offered' });
    await harness.database.query(
      `UPDATE card_recipients SET unreachable_at = now() - interval '301 s' WHERE phone = $1`,
      [phone],
    );
    expect(await offer({ phone })).toEqual({ kind: 'offered' });
  });
});

describe('against push-bombing', () => {
  it('a phone gets three cards in ten minutes, of all accounts and agents together', async () => {
    const phone = harness.freshPhone();
    await harness.cards.offers.offerCard(await harness.draftCard({ phone, id: olderId(11 * MINUTE_MS) }));
    for (const agentId of ['one_agent', 'two_agent', 'three_agent']) {
      expect(await offer({ phone, agentId, accountId: harness.clock.newId() })).toEqual({ kind: 'offered' });
    }
    expect(await offer({ phone })).toEqual(refused('too_many_cards'));
    // The card of eleven minutes ago no longer counts.
    expect(await recentOf(phone)).toHaveLength(3);
  });

  it('of concurrent offers of two processes three are accepted', async () => {
    const phone = harness.freshPhone();
    const drafts = await Promise.all(Array.from({ length: 12 }, () => harness.draftCard({ phone })));
    const others = harness.otherCards();
    const results = await Promise.all(
      drafts.map((card, at) => (at % 2 === 0 ? harness.cards : others).offers.offerCard(card)),
    );
    expect(results.filter(({ kind }) => kind === 'offered')).toHaveLength(3);
    expect(await recentOf(phone)).toHaveLength(3);
  });

  it('cards that never reached the phone do not count', async () => {
    const phone = harness.freshPhone();
    const withdrawn = await harness.offered({ phone });
    const refusedCard = await harness.sending({ phone });
    const unknown = await harness.sending({ phone });
    expect(await harness.cards.offers.withdrawUnclaimed(withdrawn.id)).toBe('withdrawn');
    await harness.cards.sends.recordSendOutcomes([
      { id: refusedCard.id, outcome: { kind: 'refused', because: 'HTTP 429' } },
      { id: unknown.id, outcome: { kind: 'unknown', because: 'time-out' } },
    ]);
    // A card with an unknown outcome may have arrived.
    expect(await recentOf(phone)).toEqual([unknown.id]);
  });

  it('two denials within an hour block cards of all accounts for an hour after the second', async () => {
    const phone = harness.freshPhone();
    const deny = async (): Promise<void> => {
      const card = await harness.sent({ phone });
      expect((await harness.storeAndProcess(harness.tapOn(card, { kind: 'deny' }))).ended).toEqual([card.id]);
    };
    await deny();
    const second = await harness.sent({ phone });
    await harness.storeAndProcess(harness.tapOn(second, { kind: 'deny' }));
    expect(await offer({ phone, agentId: 'another_agent' })).toEqual(refused('denied_before'));
    const ago = (minutes: readonly number[]): Promise<unknown> =>
      harness.database.query(
        `UPDATE card_phones SET recent = '{}', denials = ARRAY(SELECT now() - make_interval(mins => ago)
         FROM unnest($2::int[]) AS ago) WHERE phone = $1`,
        [phone, minutes],
      );
    await ago([118, 59]);
    expect(await offer({ phone })).toEqual(refused('denied_before'));
    await ago([119, 61]);
    expect(await offer({ phone })).toEqual({ kind: 'offered' });
    await ago([65, 1]);
    expect(await offer({ phone })).toEqual({ kind: 'offered' });
  });

  it('the last two denials are stored, concurrent ones too', async () => {
    const phone = harness.freshPhone();
    const taps = [await harness.sent({ phone }), await harness.sent({ phone }), await harness.sent({ phone })];
    const { ended } = await harness.storeAndProcess(...taps.map((card) => harness.tapOn(card, { kind: 'deny' })));
    expect(ended).toHaveLength(3);
    const stored = await harness.database.query<{ denials: Date[] }>(
      'SELECT denials FROM card_phones WHERE phone = $1',
      [phone],
    );
    expect(stored[0]?.denials).toHaveLength(2);
    expect(await offer({ phone })).toEqual(refused('denied_before'));
  });
});

describe('rows of phones', () => {
  it('are deleted a day after their last change, up to the limit', async () => {
    const cards = [await harness.offered(), await harness.offered(), await harness.offered()];
    const phones = cards.map(({ phone }) => phone);
    await harness.database.query(
      `UPDATE card_phones SET changed_at = now() - interval '25 hours' WHERE phone = ANY ($1::text[])`,
      [phones],
    );
    await harness.database.query(
      `INSERT INTO card_recipients (agent_id, phone, unreachable_at, prefers_sms_at)
       SELECT 'old_agent', phone, now() - interval '25 hours', CASE WHEN phone = $2 THEN now() END
       FROM unnest($1::text[]) AS phone`,
      [phones, phones[0]],
    );
    expect([
      await harness.cards.offers.deleteStale(2),
      await harness.cards.offers.deleteStale(2),
      await harness.cards.offers.deleteStale(2),
    ]).toEqual([2, 1, 0]);
    const left = await harness.database.query(`SELECT phone FROM card_recipients WHERE agent_id = 'old_agent'`);
    // Unsubscriptions are not deleted.
    expect(left).toEqual([{ phone: phones[0] }]);
  });
});
