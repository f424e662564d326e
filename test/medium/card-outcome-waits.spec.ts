import { EventEmitter, once } from 'node:events';
import type { Brand } from '@countersign/accounts/accounts';
import { openPubSub, type PubSub } from '@countersign/bus';
import { CardOfferStore, findCards, type CardRecord } from '@countersign/rcs/offers';
import { CardAnswers, type Card, type FinalChannel } from '@countersign/rcs/rules';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { CardEnd } from '../../apps/control-plane/src/operations/control-plane.metrics.js';
import { CardDecisionService } from '../../apps/control-plane/src/cards/card-decision.service.js';
import { CardOutcomes } from '../../apps/control-plane/src/cards/card-outcomes.js';
import { MatchNumberService } from '../../apps/control-plane/src/cards/match-number.service.js';
import { OfferNotifier } from '../../apps/control-plane/src/cards/offer.notifier.js';
import { RcsOfferService, type DecidedCard } from '../../apps/control-plane/src/cards/rcs-offer.service.js';
import { PlayedGateway } from '../support/played-gateway.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { liveTenant } from '../support/tenants.js';

const POOL = 4;
const ENDS_MS = 10_000;
/** Longer than any test, which ends the wait itself. */
const LONG_WAIT_MS = 20_000;

let harness: SessionHarness;
let bus: PubSub;
/** The connection pool of the services under test; the harness has its own. */
let database: Database;
let gateway: PlayedGateway;
let unheardGateway: PlayedGateway;

beforeAll(async () => {
  harness = await openSessionHarness();
  database = await Database.open({
    url: harness.url,
    poolMax: POOL,
    applicationName: 'service',
    onError: () => undefined,
  });
  bus = openPubSub({ redisUrl: inject('redisUrl'), databaseUrl: harness.url }, () => undefined);
  gateway = new PlayedGateway({ ...harness, bus });
  unheardGateway = new PlayedGateway({ ...harness, bus: null });
});
afterAll(async () => {
  await bus.close();
  await database.close();
  await harness.close();
});

let phones = 0;
/** A phone that no other test uses. */
const newPhone = (): string => `+1415555${String((phones += 1)).padStart(4, '0')}`;

const brandOf = (changes: Partial<Brand> = {}): Brand => ({
  ...harness.brand,
  rcsAgentId: 'acme_agent@rbm.goog',
  ...changes,
});

interface Service {
  readonly outcomes: CardOutcomes;
  readonly store: CardOfferStore;
  readonly ends: CardEnd[];
  readonly notified: Uuid[];
  readonly errors: unknown[];
  /** Claims the card of a session once gateways are notified of it. */
  claim(session: Session, by?: PlayedGateway): Promise<Card>;
  send(session: Session, brand?: Brand): Promise<DecidedCard>;
}

/** The offer service of one of several control plane processes. */
async function openService(options: { deliveryWaitMs?: number; unreachableSeconds?: number } = {}): Promise<Service> {
  const { deliveryWaitMs = LONG_WAIT_MS, unreachableSeconds = 0 } = options;
  const store = new CardOfferStore({ database, unreachableSeconds });
  const [ends, notified, errors]: [CardEnd[], Uuid[], unknown[]] = [[], [], []];
  const subscriptions: Promise<void>[] = [];
  const notifier = new EventEmitter();
  const failures = { about: () => (error: unknown) => void errors.push(error) };
  const listeningBus: Pick<PubSub, 'subscribe' | 'publish'> = {
    subscribe: (topic, handler) => {
      const subscription = bus.subscribe(topic, handler);
      subscriptions.push(subscription.ready);
      return subscription;
    },
    publish: (_topic: string, ...[ids]: readonly unknown[]) => {
      notified.push(...(ids as Uuid[]));
      notifier.emit('notified');
    },
  };
  const offers = new OfferNotifier(listeningBus, { notify: (ids) => void notified.push(...ids) }, { away: false });
  const outcomes = new CardOutcomes(listeningBus, database, harness.clock, failures);
  const service = new RcsOfferService(
    harness.clock,
    outcomes,
    new CardDecisionService(store, offers, { rcsDeliveryWaitMs: deliveryWaitMs }, failures),
    new MatchNumberService(new CardAnswers(harness.keys), database, failures),
    { countCard: (end) => void ends.push(end), watch: () => undefined },
  );
  await Promise.all(subscriptions);
  const send = (session: Session, brand = brandOf()): Promise<DecidedCard> =>
    service.sendCard(session, brand, (_mostMs, wait) => wait());
  const claim = async ({ id }: Session, by = gateway): Promise<Card> => {
    while (!notified.includes(id)) await once(notifier, 'notified');
    return by.claimCard(id);
  };
  return { outcomes, store, ends, notified, errors, send, claim };
}

const opened = (phone = newPhone(), ttlSeconds = 90): Promise<Session> =>
  harness.sessions.create(harness.draft({ phone, ttlSeconds }));

const channelOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await harness.sessions.find(liveTenant(accountId), id))?.channel;

const statusOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await harness.sessions.find(liveTenant(accountId), id))?.status;

async function cardOf({ id }: Session): Promise<CardRecord> {
  const card = (await findCards(harness.database, [id])).get(id);
  if (card === undefined) throw new Error('the session has no card');
  return card;
}

const recentOf = async (phone: string): Promise<number> => {
  const [row] = await harness.database.query<{ count: number }>(
    'SELECT cardinality(recent) AS count FROM card_phones WHERE phone = $1',
    [phone],
  );
  return row?.count ?? 0;
};

/** A session whose create waits, and its card, claimed by a gateway. */
async function claimed(
  at: Service,
  by = gateway,
): Promise<{ session: Session; decided: Promise<DecidedCard>; card: Card }> {
  const session = await opened();
  const decided = at.send(session);
  return { session, decided, card: await at.claim(session, by) };
}

describe('a create whose card arrives in time', () => {
  it.each(['delivered', 'read', 'tap'] as const)('is rcs after the event %s', async (kind) => {
    const at = await openService();
    const { session, decided, card } = await claimed(at);
    expect(at.notified).toEqual([session.id]);
    await gateway.sent(card);
    await gateway.receiveEvent(card, kind, kind === 'tap' ? { kind: 'approve' } : null);
    expect(await decided).toEqual({ channel: 'rcs', matchCode: null });
    expect([await channelOf(session), at.ends]).toEqual(['rcs', ['rcs']]);
    expect(await statusOf(session)).toBe(kind === 'tap' ? 'approved' : 'pending');
  });

  it('is rcs when the delivery event comes before the answer to the send', async () => {
    const at = await openService();
    const { session, decided, card } = await claimed(at);
    await gateway.receiveEvent(card, 'delivered');
    expect(await decided).toMatchObject({ channel: 'rcs' });
    await gateway.sent(card, { kind: 'unknown', because: 'no answer in time' });
    expect([await channelOf(session), (await cardOf(session)).finalChannel]).toEqual(['rcs', 'rcs']);
  });

  it('returns the number that the card asks for', async () => {
    const at = await openService();
    const session = await opened();
    const decided = at.send(session, brandOf({ rcsNumberMatching: true }));
    const card = await at.claim(session);
    await gateway.receiveEvent(card, 'delivered');
    const { matchCode } = await decided;
    expect(matchCode).toMatch(/^[1-9][0-9]$/);
    await gateway.receiveEvent(card, 'tap', { kind: 'number', number: matchCode ?? '' });
    expect(await statusOf(session)).toBe('approved');
  });
});

describe('a create whose card does not arrive', () => {
  it('falls back when no gateway claims it; it can no longer be claimed, and does not count against the phone', async () => {
    const at = await openService();
    const session = await opened();
    expect(await at.send(session)).toEqual({ channel: 'sms_fallback', matchCode: null });
    expect(at.ends).toEqual(['not_taken']);
    expect(await cardOf(session)).toMatchObject({ state: 'withdrawn', finalChannel: 'sms_fallback', command: null });
    expect(await gateway.cards.sends.claimOffers([session.id])).toEqual([]);
    expect(await recentOf(session.phone)).toBe(0);
  });

  it.each([
    [{ kind: 'unreachable' }, 'refused', null],
    [{ kind: 'refused', because: 'forbidden' }, 'refused', null],
    [{ kind: 'unknown', because: 'no answer in time' }, 'unknown', 'revoke'],
  ] as const)('falls back as soon as the platform has answered %j', async (outcome, state, command) => {
    const at = await openService();
    const { session, decided, card } = await claimed(at);
    await gateway.sent(card, outcome);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(at.ends).toEqual(['not_sent']);
    expect(await cardOf(session)).toMatchObject({ state, finalChannel: 'sms_fallback', command });
  });

  it('falls back without a delivery, and the card is revoked', async () => {
    const at = await openService({ deliveryWaitMs: 50 });
    const { session, decided, card } = await claimed(at);
    await gateway.sent(card);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(at.ends).toEqual(['not_delivered']);
    expect(await cardOf(session)).toMatchObject({ state: 'sent', command: 'revoke' });
  });

  it.each(['approve', 'deny'] as const)(
    'is still ended by a late tap: %s; its channel does not change',
    async (kind) => {
      const at = await openService({ deliveryWaitMs: 0 });
      const { session, decided, card } = await claimed(at);
      await gateway.sent(card);
      await decided;
      await gateway.receiveEvent(card, 'delivered');
      await gateway.receiveEvent(card, 'tap', { kind });
      expect([await statusOf(session), await channelOf(session)]).toEqual([
        kind === 'approve' ? 'approved' : 'denied',
        'sms_fallback',
      ]);
    },
  );

  it('returns its number when the card may still arrive', async () => {
    const at = await openService({ deliveryWaitMs: 0 });
    const numbered = brandOf({ rcsNumberMatching: true });
    const [late, unknown, refused] = [await opened(), await opened(), await opened()];
    const decided = [late, unknown, refused].map((session) => at.send(session, numbered));
    const cards = await Promise.all([at.claim(late), at.claim(unknown), at.claim(refused)]);
    await gateway.sent(cards[0]);
    await gateway.sent(cards[1], { kind: 'unknown', because: 'no answer in time' });
    await gateway.sent(cards[2], { kind: 'unreachable' });
    const shown = (await Promise.all(decided)).map(({ matchCode }) => matchCode);
    const answers = new CardAnswers(harness.keys);
    expect(shown).toEqual([answers.matchCodeOf(late), answers.matchCodeOf(unknown), null]);
  });
});

describe('a create that receives no outcome over the bus', () => {
  it('is rcs when the card arrived before the deadline', async () => {
    const at = await openService();
    const { decided, card } = await claimed(at, unheardGateway);
    await unheardGateway.sent(card);
    await unheardGateway.receiveEvent(card, 'delivered');
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });

  it('falls back when the gateway that claimed its card has failed, and the card is revoked in case it was sent', async () => {
    const at = await openService();
    const { session, decided } = await claimed(at, unheardGateway);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(await cardOf(session)).toMatchObject({ state: 'sending', finalChannel: 'sms_fallback', command: 'revoke' });
  });
});

describe('a repeated request', () => {
  it('sends no second card, and has the same response', async () => {
    const first = await openService();
    const { session, decided, card } = await claimed(first);
    await gateway.receiveEvent(card, 'delivered');
    await decided;
    const second = await openService();
    expect(await second.send(session)).toEqual(await decided);
    expect([second.notified, await recentOf(session.phone)]).toEqual([[], 1]);
  });

  it('is settled at once when the process that waited for its card has failed', async () => {
    const failed = await openService();
    const { session, card } = await claimed(failed);
    await gateway.sent(card);
    const second = await openService();
    expect(await second.send(session)).toMatchObject({ channel: 'sms_fallback' });
    expect([second.notified, (await cardOf(session)).command]).toEqual([[session.id], 'revoke']);
    failed.outcomes.stop();
  });
});

describe('the limits of a phone', () => {
  it('allow three cards in ten minutes', async () => {
    const at = await openService();
    const phone = newPhone();
    const channels: FinalChannel[] = [];
    for (let count = 0; count < 4; count += 1) {
      const session = await opened(phone);
      const decided = at.send(session);
      if (count < 3) await gateway.receiveEvent(await at.claim(session), 'delivered');
      channels.push((await decided).channel);
    }
    expect(channels).toEqual(['rcs', 'rcs', 'rcs', 'sms_fallback']);
    expect(at.ends.at(-1)).toBe('too_many_cards');
  });

  it('allow none after two denials', async () => {
    const at = await openService();
    const phone = newPhone();
    for (let count = 0; count < 2; count += 1) {
      const session = await opened(phone);
      const decided = at.send(session);
      await gateway.receiveEvent(await at.claim(session), 'tap', { kind: 'deny' });
      await decided;
    }
    expect(await at.send(await opened(phone))).toEqual({ channel: 'sms_fallback', matchCode: null });
    expect(at.ends.at(-1)).toBe('denied_before');
  });

  it('allow none for a while after it could not be reached', async () => {
    const at = await openService({ unreachableSeconds: 300 });
    const phone = newPhone();
    const session = await opened(phone);
    const decided = at.send(session);
    await gateway.sent(await at.claim(session), { kind: 'unreachable' });
    await decided;
    await at.send(await opened(phone));
    expect(at.ends).toEqual(['not_sent', 'unreachable']);
  });
});

it('both sides come to the same channel when the card arrives while it is settled', async () => {
  const at = await openService();
  const channels = new Set<FinalChannel>();
  for (let round = 0; round < 8; round += 1) {
    const { session, decided, card } = await claimed(at);
    await gateway.sent(card);
    const deliver = (): Promise<void> => gateway.receiveEvent(card, 'delivered');
    const settle = (): Promise<FinalChannel> => at.store.settleChannel(session.id);
    const [first, second] = round % 2 === 0 ? [deliver, settle] : [settle, deliver];
    await Promise.all([first(), second()]);
    const finalChannel = await settle();
    expect(await channelOf(session)).toBe(finalChannel);
    if (finalChannel === 'rcs') expect(await decided).toMatchObject({ channel: 'rcs' });
    channels.add(finalChannel);
  }
  at.outcomes.stop();
  expect(channels.size).toBeGreaterThan(0);
});

describe('1,000 creates that wait for offline phones', () => {
  const CREATES = 1_000;
  const BATCH = 50;

  /** Starts concurrent creates; resolves once the platform has accepted their cards. */
  async function startBatch(at: Service): Promise<Promise<DecidedCard>[]> {
    const sessions = await Promise.all(Array.from({ length: BATCH }, () => opened(newPhone(), 300)));
    const decided = sessions.map((session) => at.send(session));
    let left = BATCH;
    await until('every card is claimed', ENDS_MS, async () => {
      const cards = await gateway.cards.sends.claimOffers(at.notified.splice(0));
      await Promise.all(cards.map((card) => gateway.sent(card)));
      left -= cards.length;
      return left === 0;
    });
    return decided;
  }

  it('hold no connection, and other creates proceed', async () => {
    const at = await openService({ deliveryWaitMs: 60_000 });
    const decided: Promise<DecidedCard>[] = [];
    while (decided.length < CREATES) decided.push(...(await startBatch(at)));
    expect(at.outcomes.waiting).toBe(CREATES);
    await until('no connection is in use', ENDS_MS, () => {
      const { total, idle, waiting } = database.poolUse;
      return total === idle && waiting === 0;
    });
    const session = await opened();
    const other = at.send(session);
    await gateway.receiveEvent(await at.claim(session), 'delivered');
    expect(await other).toMatchObject({ channel: 'rcs' });
    expect([at.outcomes.waiting, at.ends]).toEqual([CREATES, ['rcs']]);
    at.outcomes.stop();
    const channels = (await Promise.all(decided)).map(({ channel }) => channel);
    expect([channels.length, new Set(channels)]).toEqual([CREATES, new Set(['sms_fallback'])]);
    expect([at.outcomes.waiting, at.errors]).toEqual([0, []]);
  });
});
