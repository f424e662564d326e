import type { PubSub } from '@countersign/bus';
import type { AddressedCardOutcome, CardSendResult } from '@countersign/rcs/offers';
import type { Card, CardOutcome, SendOutcome } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { DatabaseUnavailable } from '@countersign/postgres';
import { Metrics } from '@countersign/telemetry';
import { describe, expect, it, vi } from 'vitest';
import { RcsMetrics } from '../rcs.metrics.js';
import { CardSender } from './card.sender.js';
import { DeliveryGrace } from './delivery-grace.js';
import { OfferErrorLog } from './offer-error.log.js';
import { OfferDispatcher } from './offer.dispatcher.js';
import { SendOutcomeRecorder } from './send-outcome.recorder.js';

const idOf = (number: number): Uuid => `01890000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const [ONE, TWO, THREE] = [idOf(1), idOf(2), idOf(3)];

const cardOf = (id: Uuid): Card => ({
  id,
  accountId: idOf(90),
  brandId: idOf(91),
  originProcess: idOf(92),
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
  const [news, errors] = [[] as CardOutcome[], [] as unknown[]];
  const recorded: CardSendResult[] = [];
  let [shed, givenUp] = [0, 0];
  let word: AddressedCardOutcome['news'] = 'sent';
  const sends = {
    claimOffers: (ids: readonly Uuid[]): Promise<Card[]> => {
      claims.push([...ids]);
      return Promise.resolve(ids.filter((id) => offered.delete(id)).map(cardOf));
    },
    recordSendOutcomes: (sent: readonly CardSendResult[]): Promise<AddressedCardOutcome[]> => {
      recorded.push(...sent);
      return Promise.resolve(sent.map(({ id }) => ({ id, originProcess: idOf(92), news: word })));
    },
  };
  const metrics = new RcsMetrics(new Metrics({ app: 'test', processMetrics: false }));
  vi.spyOn(metrics, 'countShedOffers').mockImplementation((count) => void (shed += count));
  const log = new OfferErrorLog({ warn: (fault: unknown) => void errors.push(fault) });
  const bus: Pick<PubSub, 'publish'> = {
    publish: (_, ...[outcomes]) => void news.push(...(outcomes as readonly CardOutcome[])),
  };
  const recorder = new SendOutcomeRecorder(sends, bus, { trigger: () => (givenUp += 1) }, log);
  const grace = new DeliveryGrace();
  const sender = new CardSender({ sendCard: send }, grace, recorder, metrics);
  const dispatcher = new OfferDispatcher(sends, sender, metrics, log, { batchMaxCommands: 64 });
  return {
    ...{ dispatcher, grace, sends, offered, claims, recorded, news, errors },
    shed: () => shed,
    givenUp: () => givenUp,
    finalChannel: (news: AddressedCardOutcome['news']) => void (word = news),
  };
}

describe('offers of a job or a broadcast', () => {
  it('are claimed in one batch, sent, recorded and published', async () => {
    const { dispatcher, offered, claims, recorded, news } = opened();
    offered.add(ONE).add(TWO);
    expect(await dispatcher.claimAndSend([ONE, TWO])).toEqual([]);
    await dispatcher.drain();
    expect(claims).toEqual([[ONE, TWO]]);
    expect(recorded.map(({ id }) => id)).toEqual([ONE, TWO]);
    expect(news.map(({ id }) => id)).toEqual([ONE, TWO]);
  });

  it('that are missing or claimed elsewhere are returned and not sent', async () => {
    const { dispatcher, offered, recorded } = opened();
    offered.add(TWO);
    expect(await dispatcher.claimAndSend([ONE, TWO, THREE])).toEqual([ONE, THREE]);
    await dispatcher.drain();
    expect(recorded.map(({ id }) => id)).toEqual([TWO]);
  });

  it('are claimed before they are sent, so that no job waits for the platform', async () => {
    let answer: (outcome: SendOutcome) => void = () => undefined;
    const { dispatcher, offered, recorded } = opened(() => new Promise((resolve) => (answer = resolve)));
    offered.add(ONE);
    await dispatcher.claimAndSend([ONE]);
    expect([dispatcher.sending, recorded]).toEqual([1, []]);
    answer({ kind: 'unknown', because: 'timeout' });
    await dispatcher.drain();
    expect(recorded).toEqual([{ id: ONE, outcome: { kind: 'unknown', because: 'timeout' } }]);
    expect(dispatcher.sending).toBe(0);
  });

  it.each<[SendOutcome, AddressedCardOutcome['news'], number]>([
    [{ kind: 'sent' }, 'sent', 0],
    [{ kind: 'sent' }, 'rcs', 0],
    [{ kind: 'sent' }, 'sms_fallback', 1],
    [{ kind: 'unknown', because: 'timeout' }, 'sms_fallback', 1],
    [{ kind: 'unreachable' }, 'sms_fallback', 0],
    [{ kind: 'refused', because: 'throttled' }, 'sms_fallback', 0],
  ])('are revoked after the fallback if they may still arrive: %o, %s', async (outcome, word, times) => {
    const { dispatcher, offered, finalChannel, givenUp } = opened(() => Promise.resolve(outcome));
    finalChannel(word);
    offered.add(ONE);
    await dispatcher.claimAndSend([ONE]);
    await dispatcher.drain();
    expect(givenUp()).toBe(times);
  });

  it('are left to other gateways once this one stops', async () => {
    const { dispatcher, offered, claims, shed } = opened();
    offered.add(ONE);
    dispatcher.stopClaiming();
    expect(await dispatcher.claimAndSend([ONE])).toEqual([ONE]);
    expect([claims, shed()]).toEqual([[], 1]);
  });

  it('are left to other gateways while too many sends are in flight', async () => {
    const { dispatcher, offered, shed } = opened(() => new Promise(() => undefined));
    const many = Array.from({ length: 2_000 }, (_, at) => idOf(1_000 + at));
    for (const id of [...many, ONE]) offered.add(id);
    expect(await dispatcher.claimAndSend(many)).toEqual([]);
    expect(await dispatcher.claimAndSend([ONE])).toEqual([ONE]);
    expect([dispatcher.sending, shed()]).toEqual([2_000, 1]);
  });

  it('are not claimed while the database is unavailable, which is reported', async () => {
    const { dispatcher, sends, offered, errors } = opened();
    offered.add(ONE);
    vi.spyOn(sends, 'claimOffers').mockRejectedValueOnce(new DatabaseUnavailable('gone'));
    expect(await dispatcher.claimAndSend([ONE])).toEqual([ONE]);
    expect(errors).toHaveLength(1);
    expect(await dispatcher.claimAndSend([ONE])).toEqual([]);
  });
});

describe('a completed send', () => {
  it('is recorded unless the delivery of its card is stored first', async () => {
    const { dispatcher, grace, offered, recorded } = opened();
    offered.add(ONE).add(TWO);
    await dispatcher.claimAndSend([ONE, TWO]);
    await new Promise(setImmediate);
    grace.markDelivered([ONE]);
    await dispatcher.drain();
    expect(recorded.map(({ id }) => id)).toEqual([TWO]);
  });

  it('is recorded once the database is available again', async () => {
    const { dispatcher, sends, offered, news, errors } = opened();
    offered.add(ONE);
    vi.spyOn(sends, 'recordSendOutcomes').mockRejectedValueOnce(new DatabaseUnavailable('gone'));
    await dispatcher.claimAndSend([ONE]);
    await dispatcher.drain();
    expect([errors.length, news.map(({ id }) => id)]).toEqual([1, [ONE]]);
  });
});
