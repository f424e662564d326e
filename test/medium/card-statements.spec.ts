import { firstIdAt } from '@countersign/ids';
import type { Database, Executor } from '@countersign/postgres';
import { runStatements } from '@countersign/postgres/statements';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAIM_OFFERS } from '../../libs/rcs/src/offers/card-send.sql.js';
import {
  FIND_BY_MESSAGE,
  LOCK_BY_MESSAGE,
  LOCK_FOR_EVENTS,
  CLAIM_OLDEST_EVENTS,
} from '../../libs/rcs/src/events/card-event.sql.js';
import { CLAIM_DUE_COMMANDS } from '../../libs/rcs/src/commands/rbm-command.sql.js';
import { READ_STANDING, SETTLE_CARDS } from '../../libs/rcs/src/offers/card-offer.sql.js';
import { openCardStores, type CardStores } from '../support/card-stores.js';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';
import { asOwner } from '../support/database.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Settled cards and processed events of one millisecond ($1), numbers $2 to $3. */
const MADE_ID = `(lpad(to_hex($1::bigint), 12, '0') || substr(md5(n::text), 1, 20))::uuid`;
const MANY_CARDS = `
  INSERT INTO cards (id, account_id, brand_id, waiter, agent_id, phone, brand_name, number_matching, message_id, state,
    created_at, expires_at, settled_at, settled_as)
  SELECT ${MADE_ID}, ${MADE_ID}, ${MADE_ID}, ${MADE_ID}, 'a', '+14155552671', 'Acme', false, md5(n::text)::uuid, 'sent',
    now(), now(), now(), 'rcs' FROM generate_series($2::int, $3::int) AS n`;
const MANY_EVENTS = `
  INSERT INTO card_events (id, kind, agent_id, occurred_at, received_at, handled_at)
  SELECT ${MADE_ID}, 'delivered', 'a', now(), now(), now() FROM generate_series($2::int, $3::int) AS n`;

let harness: CardHarness;

beforeAll(async () => {
  harness = await openCardHarness({ pastDays: 25 });
});
afterAll(() => harness.close());

/** The partitions, without indexes, on which this transaction holds a lock. */
const lockedPartitions = async (tx: Executor): Promise<string[]> => {
  const rows = await tx.query<{ name: string }>(
    `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = pg_locks.relation
     WHERE pid = pg_backend_pid() AND relkind = 'r' AND relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
};

/** Card stores that record the maximum number of card partitions locked by a transaction. */
function watchedCards(): { cards: CardStores; mostLocked: () => number } {
  const { database, clock, keys } = harness;
  let most = 0;
  const transaction = <T>(work: (tx: Executor) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      const result = await work(tx);
      most = Math.max(most, (await lockedPartitions(tx)).filter((name) => name.startsWith('card')).length);
      return result;
    });
  const watched: Pick<Database, 'transaction' | 'readThenWrite' | 'query'> = {
    transaction,
    readThenWrite: (read, write) => transaction(async (tx) => runStatements(tx, write(await read(tx)))),
    query: <Row extends object>(text: string, values?: readonly unknown[]) =>
      transaction((tx) => tx.query<Row>(text, values)),
  };
  return { cards: openCardStores({ database: watched, clock, keys }), mostLocked: () => most };
}

describe('the statements on cards', () => {
  it('lock only the partitions of the day', async () => {
    const { cards, mostLocked } = watchedCards();
    const card = await harness.draftCard();
    await cards.offers.offerCard(card);
    await cards.sends.claimOffers([card.id]);
    await cards.sends.recordSendOutcomes([{ id: card.id, outcome: { kind: 'sent' } }]);
    await cards.offers.settleChannel(card.id);
    await cards.offers.withdrawUnclaimed(card.id);
    await cards.events.storeEvents([harness.eventOf(card, 'delivered')]);
    // The partition of the ids' day.
    expect(mostLocked()).toBe(1);
    await cards.commands.claimDueCommands(10, 60);
    await cards.commands.msToNextCommand();
    // The partition of yesterday too, for old commands, and at midnight that of the next day.
    expect(mostLocked()).toBeLessThanOrEqual(3);
  });

  it('that find a card by its message id lock the cards of one day', async () => {
    const card = await harness.sent();
    const locked = await harness.database.transaction(async (tx) => {
      const prepared = await harness.cards.arrivals.prepareArrivals(tx, [harness.eventOf(card, 'delivered')]);
      await runStatements(tx, harness.cards.arrivals.storeArrivals(prepared));
      return lockedPartitions(tx);
    });
    expect(locked.filter((name) => name.startsWith('cards_')).length).toBeLessThanOrEqual(3);
    expect(locked.filter((name) => name.startsWith('card_events_')).length).toBe(1);
  });

  it('that apply events lock the cards of one day', async () => {
    const card = await harness.sent();
    const ids = await harness.cards.events.storeEvents([
      harness.eventOf(card, 'delivered'),
      harness.tapOn(card, { kind: 'deny' }),
      harness.tapOn({ ...card, id: firstIdAt(0) }, { kind: 'deny' }),
      harness.tapOn({ ...card, id: firstIdAt(2 ** 47) }, { kind: 'deny' }),
    ]);
    const locked = await harness.database.transaction(async (tx) => {
      await harness.cards.events.applyEvents(tx, await harness.cards.events.claimEvents(tx, ids));
      return lockedPartitions(tx);
    });
    expect(locked.filter((name) => name.startsWith('cards_')).length).toBeLessThanOrEqual(3);
    expect(locked.filter((name) => name.startsWith('card_events_')).length).toBe(1);
  });
});

describe('on a partition without statistics', () => {
  let today = '';

  beforeAll(async () => {
    const { database, clock } = harness;
    const { id } = await harness.offered();
    const [partition] = await database.query<{ cards: string; events: string }>(
      `SELECT tableoid::regclass::text AS cards, replace(tableoid::regclass::text, 'cards', 'card_events') AS events
       FROM cards WHERE id = $1`,
      [id],
    );
    today = (partition?.cards ?? '').replace('cards_', '');
    for (const table of [partition?.cards, partition?.events]) {
      await asOwner(harness, `ALTER TABLE ${table ?? ''} SET (autovacuum_enabled = off)`);
    }
    for (const [from, to] of [
      [1, 10_000],
      [10_001, 20_000],
      [20_001, 30_000],
    ]) {
      const values = [clock.nowMs(), from, to];
      await database.query(MANY_CARDS, values);
      await database.query(MANY_EVENTS, values);
    }
  });

  it.each([
    ['a claim', CLAIM_OFFERS, (ids: readonly string[]) => [ids, ids[0], ids.at(-1), 500]],
    ['a lock', LOCK_FOR_EVENTS, (ids: readonly string[]) => [ids, ids[0], ids.at(-1)]],
    ['a settlement', SETTLE_CARDS, (ids: readonly string[]) => [ids, ids.map(() => true), ids[0], ids.at(-1), 2]],
    [
      'the facts about an offer',
      READ_STANDING,
      (ids: readonly string[]) => [ids, ids.map(() => 'a'), ids.map(() => '+14155552671'), ids[0], ids.at(-1)],
    ],
    [
      'a card by its message id',
      FIND_BY_MESSAGE,
      (ids: readonly string[]) => [
        ids,
        firstIdAt(harness.clock.nowMs() - DAY_MS),
        firstIdAt(harness.clock.nowMs() + 60_000),
      ],
    ],
    [
      'a delivered card by its message id',
      LOCK_BY_MESSAGE,
      (ids: readonly string[]) => [
        ids,
        firstIdAt(harness.clock.nowMs() - DAY_MS),
        firstIdAt(harness.clock.nowMs() + 60_000),
      ],
    ],
    [
      'commands',
      CLAIM_DUE_COMMANDS,
      () => [firstIdAt(harness.clock.nowMs() - DAY_MS), firstIdAt(harness.clock.nowMs() + 60_000), 32, 10, 600],
    ],
    [
      'unprocessed events',
      CLAIM_OLDEST_EVENTS,
      () => [firstIdAt(harness.clock.nowMs() - 2 * DAY_MS), firstIdAt(harness.clock.nowMs() + 60_000), 100],
    ],
  ] as const)('%s is found by an index', async (_name, statement, valuesOf) => {
    const ids = (await harness.database.query<{ id: string }>(`SELECT id FROM cards ORDER BY id DESC LIMIT 64`)).map(
      ({ id }) => id,
    );
    const plan = await harness.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN ${statement}`,
      valuesOf([...ids].sort()),
    );
    const lines = plan.map((row) => row['QUERY PLAN']).filter((line) => line.includes(today));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes('Seq Scan'))).toEqual([]);
  });
});
