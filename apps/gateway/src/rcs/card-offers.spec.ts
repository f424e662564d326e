import type { AddressedCardOutcome, SentCard } from '@countersign/rcs/offers';
import type { Card, SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { describe, expect, it, vi } from 'vitest';
import { CardOffers } from './card-offers.js';

const idOf = (number: number): Uuid => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [ONE, TWO, THREE] = [idOf(1), idOf(2), idOf(3)];

const cardOf = (id: Uuid): Card => ({
  id,
  accountId: idOf(90),
  brandId: idOf(91),
  waiter: idOf(92),
  agentId: 'acme_agent',
  phone: '+14155552671',
  brandName: 'Acme',
  logoUrl: null,
  numberMatching: false,
  keyVersion: 1,
  expiresAt: new Date(0),
  messageId: id,
});

function opened(send: (card: Card) => Promise<SendOutcome> = () => Promise.resolve({ kind: 'sent' })) {
  const [offered, claims] = [new Set<Uuid>(), [] as Uuid[][]];
  const [news, errors] = [[] as AddressedCardOutcome[], [] as unknown[]];
  const recorded: SentCard[] = [];
  let [shed, givenUp] = [0, 0];
  let word: AddressedCardOutcome['news'] = 'sent';
  const cards = {
    claimOffers: (ids: readonly Uuid[]): Promise<Card[]> => {
      claims.push([...ids]);
      return Promise.resolve(ids.filter((id) => offered.delete(id)).map(cardOf));
    },
    recordOutcomes: (sent: readonly SentCard[]): Promise<AddressedCardOutcome[]> => {
      recorded.push(...sent);
      return Promise.resolve(sent.map(({ id }) => ({ id, waiter: idOf(92), news: word })));
    },
  };
  const offers = new CardOffers({
    cards,
    send,
    maxBatch: 64,
    onCardOutcomes: (told) => void news.push(...told),
    onGivenUp: () => {
      givenUp++;
    },
    onOutcome: () => undefined,
    onShed: (count) => void (shed += count),
    onError: (error) => void errors.push(error),
  });
  return {
    ...{ offers, cards, offered, claims, recorded, news, errors },
    shed: () => shed,
    givenUp: () => givenUp,
    finalChannel: (news: AddressedCardOutcome['news']) => void (word = news),
  };
}

describe('offers that are rung for', () => {
  it('are claimed in one set, sent, recorded and told of', async () => {
    const { offers, offered, claims, recorded, news } = opened();
    offered.add(ONE).add(TWO);
    expect(await offers.take([ONE, TWO])).toEqual([]);
    await offers.drain();
    expect(claims).toEqual([[ONE, TWO]]);
    expect(recorded.map(({ id }) => id)).toEqual([ONE, TWO]);
    expect(news.map(({ id }) => id)).toEqual([ONE, TWO]);
  });

  it('and are none, or another’s, are named and not sent', async () => {
    const { offers, offered, recorded } = opened();
    offered.add(TWO);
    expect(await offers.take([ONE, TWO, THREE])).toEqual([ONE, THREE]);
    await offers.drain();
    expect(recorded.map(({ id }) => id)).toEqual([TWO]);
  });

  it('are claimed before they are sent, and no job waits for the platform', async () => {
    let answer: (outcome: SendOutcome) => void = () => undefined;
    const { offers, offered, recorded } = opened(() => new Promise((resolve) => (answer = resolve)));
    offered.add(ONE);
    await offers.take([ONE]);
    expect([offers.sending, recorded]).toEqual([1, []]);
    answer({ kind: 'unknown', because: 'timeout' });
    await offers.drain();
    expect(recorded).toEqual([{ id: ONE, outcome: { kind: 'unknown', because: 'timeout' } }]);
    expect(offers.sending).toBe(0);
  });

  it.each<[SendOutcome, AddressedCardOutcome['news'], number]>([
    [{ kind: 'sent' }, 'sent', 0],
    [{ kind: 'sent' }, 'rcs', 0],
    [{ kind: 'sent' }, 'sms_fallback', 1],
    [{ kind: 'unknown', because: 'timeout' }, 'sms_fallback', 1],
    [{ kind: 'unreachable' }, 'sms_fallback', 0],
    [{ kind: 'refused', because: 'throttled' }, 'sms_fallback', 0],
  ])('are revoked where they may arrive all the same: %o, %s', async (outcome, word, times) => {
    const { offers, offered, finalChannel, givenUp } = opened(() => Promise.resolve(outcome));
    finalChannel(word);
    offered.add(ONE);
    await offers.take([ONE]);
    await offers.drain();
    expect(givenUp()).toBe(times);
  });

  it('are left to others once this gateway stops', async () => {
    const { offers, offered, claims, shed } = opened();
    offered.add(ONE);
    offers.stopClaiming();
    expect(await offers.take([ONE])).toEqual([ONE]);
    expect([claims, shed()]).toEqual([[], 1]);
  });

  it('are left to others while too many cards are on their way', async () => {
    const { offers, offered, shed } = opened(() => new Promise(() => undefined));
    const many = Array.from({ length: 2_000 }, (_, at) => idOf(1_000 + at));
    for (const id of [...many, ONE]) offered.add(id);
    expect(await offers.take(many)).toEqual([]);
    expect(await offers.take([ONE])).toEqual([ONE]);
    expect([offers.sending, shed()]).toEqual([2_000, 1]);
  });

  it('are no offers while the database is away, which is reported', async () => {
    const { offers, cards, offered, errors } = opened();
    offered.add(ONE);
    vi.spyOn(cards, 'claimOffers').mockRejectedValueOnce(new DatabaseUnavailable('gone'));
    expect(await offers.take([ONE])).toEqual([ONE]);
    expect(errors).toHaveLength(1);
    expect(await offers.take([ONE])).toEqual([]);
  });
});

describe('a send that was made', () => {
  it('is not recorded when its card is told to have arrived at once, and else is', async () => {
    const { offers, offered, recorded } = opened();
    offered.add(ONE).add(TWO);
    await offers.take([ONE, TWO]);
    await new Promise(setImmediate);
    offers.arrived([ONE]);
    await offers.drain();
    expect(recorded.map(({ id }) => id)).toEqual([TWO]);
  });

  it('is recorded when the database is back', async () => {
    const { offers, cards, offered, news, errors } = opened();
    offered.add(ONE);
    vi.spyOn(cards, 'recordOutcomes').mockRejectedValueOnce(new DatabaseUnavailable('gone'));
    await offers.take([ONE]);
    await offers.drain();
    expect([errors.length, news.map(({ id }) => id)]).toEqual([1, [ONE]]);
  });
});
