import { EventEmitter, once } from 'node:events';
import type { Brand } from '@countersign/accounts';
import { openPubSub, type PubSub } from '@countersign/bus';
import { CardAnswers, CardStore, findCards, type Card, type CardRecord, type SettledAs } from '@countersign/cards';
import { Database, type Uuid } from '@countersign/postgres';
import type { Session } from '@countersign/session';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CardDesk, type CardEnd, type DecidedCard } from '../../apps/control-plane/src/cards/card.desk.js';
import { PlayedGateway } from '../support/played-gateway.js';
import { openSessionRoom, type SessionRoom } from '../support/session-room.js';
import { until } from '../support/until.js';
import { liveTenant } from '../support/tenants.js';

const POOL = 4;
const ENDS_MS = 10_000;
/** Long enough that a test says itself when something is over. */
const LONG_WAIT_MS = 20_000;

let room: SessionRoom;
let bus: PubSub;
/** What the desks of these tests ask; the room's own connections are for what the tests themselves do. */
let database: Database;
let gateway: PlayedGateway;
let deaf: PlayedGateway;

beforeAll(async () => {
  room = await openSessionRoom();
  database = await Database.open({
    url: room.url,
    poolMax: POOL,
    applicationName: 'desk',
    entities: [],
    onError: () => undefined,
  });
  bus = openPubSub({ redisUrl: inject('redisUrl'), databaseUrl: room.url }, () => undefined);
  gateway = new PlayedGateway({ ...room, bus });
  deaf = new PlayedGateway({ ...room, bus: null });
});
afterAll(async () => {
  await bus.close();
  await database.close();
  await room.close();
});

let phones = 0;
/** A phone that no other test has. */
const newPhone = (): string => `+1415555${String((phones += 1)).padStart(4, '0')}`;

const brandOf = (changes: Partial<Brand> = {}): Brand => ({
  ...room.brand,
  rcsAgentId: 'acme_agent@rbm.goog',
  ...changes,
});

interface Desk {
  readonly desk: CardDesk;
  readonly store: CardStore;
  readonly ends: CardEnd[];
  readonly rung: Uuid[];
  readonly errors: unknown[];
  /** Takes the card of a session as soon as it is rung for. */
  take(session: Session, by?: PlayedGateway): Promise<Card>;
  send(session: Session, brand?: Brand): Promise<DecidedCard>;
}

/** A control plane's desk for cards, as one of many processes. */
async function openDesk(options: { deliveryWaitMs?: number; unreachableSeconds?: number } = {}): Promise<Desk> {
  const { deliveryWaitMs = LONG_WAIT_MS, unreachableSeconds = 0 } = options;
  const store = new CardStore({ database, clock: room.clock, keys: room.keys, unreachableSeconds });
  const [ends, rung, errors]: [CardEnd[], Uuid[], unknown[]] = [[], [], []];
  const subscriptions: Promise<void>[] = [];
  const bell = new EventEmitter();
  const desk = new CardDesk({
    store,
    answers: new CardAnswers(room.keys),
    database,
    bus: {
      subscribe: (topic, handler) => {
        const subscription = bus.subscribe(topic, handler);
        subscriptions.push(subscription.ready);
        return subscription;
      },
    },
    waiter: room.clock.newId(),
    deliveryWaitMs,
    nowMs: () => room.clock.nowMs(),
    call: (ids) => {
      rung.push(...ids);
      bell.emit('ring');
    },
    ring: (ids) => void rung.push(...ids),
    isUnheard: () => false,
    onEnd: (end) => void ends.push(end),
    onError: (error) => void errors.push(error),
  });
  await Promise.all(subscriptions);
  const send = (session: Session, brand = brandOf()): Promise<DecidedCard> =>
    desk.send(session, brand, (_mostMs, wait) => wait());
  const take = async ({ id }: Session, by = gateway): Promise<Card> => {
    while (!rung.includes(id)) await once(bell, 'ring');
    return by.takeNamed(id);
  };
  return { desk, store, ends, rung, errors, send, take };
}

const opened = (phone = newPhone(), ttlSeconds = 90): Promise<Session> =>
  room.sessions.create(room.draft({ phone, ttlSeconds }));

const channelOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await room.sessions.find(liveTenant(accountId), id))?.channel;

const statusOf = async ({ accountId, id }: Session): Promise<string | undefined> =>
  (await room.sessions.find(liveTenant(accountId), id))?.status;

async function cardOf({ id }: Session): Promise<CardRecord> {
  const card = (await findCards(room.database, [id])).get(id);
  if (card === undefined) throw new Error('the session has no card');
  return card;
}

const recentOf = async (phone: string): Promise<number> => {
  const [row] = await room.database.query<{ count: number }>(
    'SELECT cardinality(recent) AS count FROM card_phones WHERE phone = $1',
    [phone],
  );
  return row?.count ?? 0;
};

/** A session whose create waits, and its card in the hands of a gateway. */
async function taken(at: Desk, by = gateway): Promise<{ session: Session; decided: Promise<DecidedCard>; card: Card }> {
  const session = await opened();
  const decided = at.send(session);
  return { session, decided, card: await at.take(session, by) };
}

describe('a create whose card arrives in time', () => {
  it.each(['delivered', 'read', 'tap'] as const)('is rcs when the phone has told of it: %s', async (kind) => {
    const at = await openDesk();
    const { session, decided, card } = await taken(at);
    expect(at.rung).toEqual([session.id]);
    await gateway.sent(card);
    await gateway.told(card, kind, kind === 'tap' ? { kind: 'approve' } : null);
    expect(await decided).toEqual({ channel: 'rcs', matchCode: null });
    expect([await channelOf(session), at.ends]).toEqual(['rcs', ['rcs']]);
    expect(await statusOf(session)).toBe(kind === 'tap' ? 'approved' : 'pending');
  });

  it('is rcs also when the platform tells of it before it has answered the send', async () => {
    const at = await openDesk();
    const { session, decided, card } = await taken(at);
    await gateway.told(card, 'delivered');
    expect(await decided).toMatchObject({ channel: 'rcs' });
    await gateway.sent(card, { kind: 'unknown', because: 'no answer in time' });
    expect([await channelOf(session), (await cardOf(session)).settledAs]).toEqual(['rcs', 'rcs']);
  });

  it('is told the number that the card asks for', async () => {
    const at = await openDesk();
    const session = await opened();
    const decided = at.send(session, brandOf({ rcsNumberMatching: true }));
    const card = await at.take(session);
    await gateway.told(card, 'delivered');
    const { matchCode } = await decided;
    expect(matchCode).toMatch(/^[1-9][0-9]$/);
    await gateway.told(card, 'tap', { kind: 'number', number: matchCode ?? '' });
    expect(await statusOf(session)).toBe('approved');
  });
});

describe('a create whose card does not arrive', () => {
  it('falls back when no gateway takes it; nobody can take it any more, and it does not count against the phone', async () => {
    const at = await openDesk();
    const session = await opened();
    expect(await at.send(session)).toEqual({ channel: 'sms_fallback', matchCode: null });
    expect(at.ends).toEqual(['not_taken']);
    expect(await cardOf(session)).toMatchObject({ state: 'withdrawn', settledAs: 'sms_fallback', errand: null });
    expect(await gateway.cards.claimOffers([session.id])).toEqual([]);
    expect(await recentOf(session.phone)).toBe(0);
  });

  it.each([
    [{ kind: 'unreachable' }, 'refused', null],
    [{ kind: 'refused', because: 'forbidden' }, 'refused', null],
    [{ kind: 'unknown', because: 'no answer in time' }, 'unknown', 'revoke'],
  ] as const)('falls back as soon as the platform has answered %j', async (outcome, state, errand) => {
    const at = await openDesk();
    const { session, decided, card } = await taken(at);
    await gateway.sent(card, outcome);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(at.ends).toEqual(['not_sent']);
    expect(await cardOf(session)).toMatchObject({ state, settledAs: 'sms_fallback', errand });
  });

  it('falls back when the phone is silent, and has the card revoked', async () => {
    const at = await openDesk({ deliveryWaitMs: 50 });
    const { session, decided, card } = await taken(at);
    await gateway.sent(card);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(at.ends).toEqual(['not_delivered']);
    expect(await cardOf(session)).toMatchObject({ state: 'sent', errand: 'revoke' });
  });

  it.each(['approve', 'deny'] as const)('is still ended by a late tap: %s; its channel stays', async (kind) => {
    const at = await openDesk({ deliveryWaitMs: 0 });
    const { session, decided, card } = await taken(at);
    await gateway.sent(card);
    await decided;
    await gateway.told(card, 'delivered');
    await gateway.told(card, 'tap', { kind });
    expect([await statusOf(session), await channelOf(session)]).toEqual([
      kind === 'approve' ? 'approved' : 'denied',
      'sms_fallback',
    ]);
  });

  it('shows its number all the same when it may still arrive', async () => {
    const at = await openDesk({ deliveryWaitMs: 0 });
    const numbered = brandOf({ rcsNumberMatching: true });
    const [late, unknown, refused] = [await opened(), await opened(), await opened()];
    const decided = [late, unknown, refused].map((session) => at.send(session, numbered));
    const cards = await Promise.all([at.take(late), at.take(unknown), at.take(refused)]);
    await gateway.sent(cards[0]);
    await gateway.sent(cards[1], { kind: 'unknown', because: 'no answer in time' });
    await gateway.sent(cards[2], { kind: 'unreachable' });
    const shown = (await Promise.all(decided)).map(({ matchCode }) => matchCode);
    const answers = new CardAnswers(room.keys);
    expect(shown).toEqual([answers.matchCodeOf(late), answers.matchCodeOf(unknown), null]);
  });
});

describe('a create that hears nothing over the bus', () => {
  it('is rcs when the card had arrived by the time at which it is taken back', async () => {
    const at = await openDesk();
    const { decided, card } = await taken(at, deaf);
    await deaf.sent(card);
    await deaf.told(card, 'delivered');
    expect(await decided).toMatchObject({ channel: 'rcs' });
  });

  it('falls back when the gateway that took its card has died, and the card is revoked in case it went out', async () => {
    const at = await openDesk();
    const { session, decided } = await taken(at, deaf);
    expect(await decided).toMatchObject({ channel: 'sms_fallback' });
    expect(await cardOf(session)).toMatchObject({ state: 'sending', settledAs: 'sms_fallback', errand: 'revoke' });
  });
});

describe('the same session again', () => {
  it('sends no second card, and is answered as it was', async () => {
    const first = await openDesk();
    const { session, decided, card } = await taken(first);
    await gateway.told(card, 'delivered');
    await decided;
    const second = await openDesk();
    expect(await second.send(session)).toEqual(await decided);
    expect([second.rung, await recentOf(session.phone)]).toEqual([[], 1]);
  });

  it('is settled at once when the process that waited for its card has died', async () => {
    const died = await openDesk();
    const { session, card } = await taken(died);
    await gateway.sent(card);
    const second = await openDesk();
    expect(await second.send(session)).toMatchObject({ channel: 'sms_fallback' });
    expect([second.rung, (await cardOf(session)).errand]).toEqual([[session.id], 'revoke']);
    died.desk.stop();
  });
});

describe('a phone that is asked too often', () => {
  it('gets three cards in ten minutes, and then none', async () => {
    const at = await openDesk();
    const phone = newPhone();
    const channels: SettledAs[] = [];
    for (let count = 0; count < 4; count += 1) {
      const session = await opened(phone);
      const decided = at.send(session);
      if (count < 3) await gateway.told(await at.take(session), 'delivered');
      channels.push((await decided).channel);
    }
    expect(channels).toEqual(['rcs', 'rcs', 'rcs', 'sms_fallback']);
    expect(at.ends.at(-1)).toBe('too_many_cards');
  });

  it('gets none after two denials', async () => {
    const at = await openDesk();
    const phone = newPhone();
    for (let count = 0; count < 2; count += 1) {
      const session = await opened(phone);
      const decided = at.send(session);
      await gateway.told(await at.take(session), 'tap', { kind: 'deny' });
      await decided;
    }
    expect(await at.send(await opened(phone))).toEqual({ channel: 'sms_fallback', matchCode: null });
    expect(at.ends.at(-1)).toBe('denied_before');
  });

  it('that could not be reached gets none for a while', async () => {
    const at = await openDesk({ unreachableSeconds: 300 });
    const phone = newPhone();
    const session = await opened(phone);
    const decided = at.send(session);
    await gateway.sent(await at.take(session), { kind: 'unreachable' });
    await decided;
    await at.send(await opened(phone));
    expect(at.ends).toEqual(['not_sent', 'unreachable']);
  });
});

it('both sides come to one channel when the card arrives at the very moment at which it is given up', async () => {
  const at = await openDesk();
  const seen = new Set<SettledAs>();
  for (let round = 0; round < 8; round += 1) {
    const { session, decided, card } = await taken(at);
    await gateway.sent(card);
    const arrive = (): Promise<void> => gateway.told(card, 'delivered');
    const giveUp = (): Promise<SettledAs> => at.store.settle(session.id);
    const [first, second] = round % 2 === 0 ? [arrive, giveUp] : [giveUp, arrive];
    await Promise.all([first(), second()]);
    const settledAs = await giveUp();
    expect(await channelOf(session)).toBe(settledAs);
    if (settledAs === 'rcs') expect(await decided).toMatchObject({ channel: 'rcs' });
    seen.add(settledAs);
  }
  at.desk.stop();
  expect(seen.size).toBeGreaterThan(0);
});

describe('1,000 creates that wait for phones that are offline', () => {
  const CREATES = 1_000;
  const AT_ONCE = 50;

  /** Creates of one moment, until the platform has taken their cards. */
  async function begin(at: Desk): Promise<Promise<DecidedCard>[]> {
    const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => opened(newPhone(), 300)));
    const decided = sessions.map((session) => at.send(session));
    let left = AT_ONCE;
    await until('every card is taken', ENDS_MS, async () => {
      const cards = await gateway.cards.claimOffers(at.rung.splice(0));
      await Promise.all(cards.map((card) => gateway.sent(card)));
      left -= cards.length;
      return left === 0;
    });
    return decided;
  }

  it('hold no connection, and other creates go on', async () => {
    const at = await openDesk({ deliveryWaitMs: 60_000 });
    const decided: Promise<DecidedCard>[] = [];
    while (decided.length < CREATES) decided.push(...(await begin(at)));
    expect(at.desk.waiting).toBe(CREATES);
    await until('nothing is asked of the database', ENDS_MS, () => {
      const { total, idle, waiting } = database.poolUse;
      return total === idle && waiting === 0;
    });
    const session = await opened();
    const other = at.send(session);
    await gateway.told(await at.take(session), 'delivered');
    expect(await other).toMatchObject({ channel: 'rcs' });
    expect([at.desk.waiting, at.ends]).toEqual([CREATES, ['rcs']]);
    at.desk.stop();
    const channels = (await Promise.all(decided)).map(({ channel }) => channel);
    expect([channels.length, new Set(channels)]).toEqual([CREATES, new Set(['sms_fallback'])]);
    expect([at.desk.waiting, at.errors]).toEqual([0, []]);
  });
});
