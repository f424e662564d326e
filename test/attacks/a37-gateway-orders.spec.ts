import { ConcatenationStore } from '@countersign/carriers/inbound';
import { MtMessageStore, OutboundStore, type DueQuery, type MtPlan } from '@countersign/carriers/outbound';
import { EventStore } from '@countersign/events';
import { firstIdAt, type Uuid } from '@countersign/ids';
import type { Database } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import type { Session } from '@countersign/session/rules';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CardDecisions } from '../../apps/gateway/src/rcs/dispatch/card-decisions.js';
import { RcsEventProcessor } from '../../apps/gateway/src/rcs/dispatch/rcs-event.processor.js';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';
import { asOwner } from '../support/database.js';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';
import { refused, stolenConnection } from '../support/stolen-connection.js';
import { until } from '../support/until.js';

// Rows that were written with the database connection of a gateway, and that are there after it was closed: none stands before
// the rows of others in a claim, a poll or a purge.

const WITHIN_MS = 30_000;
const CHECK_VIOLATION = '23514';
/** More than a claim reads. */
const MANY = 150;
/** Octets that no compression makes shorter, more than a row of an index holds. */
const LONG = `(SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 122))`;

describe('codes', () => {
  let harness: SessionHarness;
  let stolen: Database;
  let messages: MtMessageStore;
  let session: Session;

  beforeAll(async () => {
    harness = await openSessionHarness();
    stolen = await stolenConnection(harness.gatewayUrl);
    session = await harness.sessions.create(harness.draft({ ttlSeconds: 300 }));
  });
  afterAll(async () => {
    await stolen.close();
    await harness.close();
  });
  beforeEach(async () => {
    // The first look of a process reads all past times.
    messages = new MtMessageStore(new EventStore(), harness.clock);
    for (const table of ['outbound_messages', 'submissions']) await harness.database.query(`DELETE FROM ${table}`);
  });

  async function queued(count: number, expiresAt: Date): Promise<Uuid[]> {
    const store = new OutboundStore();
    const ids = Array.from({ length: count }, () => harness.clock.newId());
    await harness.database.transaction(async (tx) => {
      for (const id of ids) {
        await store.insert(tx, {
          id,
          sessionId: session.id,
          accountId: session.accountId,
          test: false,
          destination: PHONE,
          country: 'US',
          sender: '60606',
          textSealed: harness.keys.seal('message-text', 'code', id),
          createdAt: new Date(expiresAt.getTime() - 300_000),
          expiresAt,
        });
      }
    });
    return ids;
  }
  const ended = (): Promise<Uuid[]> => queued(MANY, new Date(harness.clock.nowMs() - 1_000));
  const live = async (): Promise<Uuid> => String((await queued(1, session.expiresAt))[0]);
  const poll = (changes: Partial<DueQuery> = {}): DueQuery => ({
    limit: 100,
    expiredLimit: 25,
    everyExpired: false,
    fromId: firstIdAt(0),
    beforeId: firstIdAt(harness.clock.nowMs() + 60_000),
    claimedBy: harness.clock.newId(),
    inFlight: [],
    mayTakeBack: true,
    ...changes,
  });
  /** The live codes that a claim finds; expired ones fail as those of the gateway do. */
  async function claimed(changes: Partial<DueQuery> = {}): Promise<{ readonly live: Uuid[]; readonly due: number }> {
    const found: Uuid[] = [];
    const { due } = await harness.database.transaction((tx) =>
      messages.claimDueMessages(tx, poll(changes), ({ id, expiresAt, now }): MtPlan => {
        if (expiresAt <= now) return { kind: 'fail', error: 'EXPIRED' };
        found.push(id);
        return { kind: 'wait', ms: 1_000, afresh: false, elsewhere: false };
      }),
    );
    return { live: found, due };
  }
  const stateOf = async (id: Uuid): Promise<unknown> =>
    (await harness.database.query<{ state: string }>('SELECT state FROM outbound_messages WHERE id = $1', [id]))[0]
      ?.state;

  it.each(['0001-01-01 BC', 'yesterday', 'now'])(
    'A37 claims a new code before any number of ended ones that were queued again as of %s',
    async (at) => {
      const ids = await ended();
      await harness.database.query(
        `UPDATE outbound_messages SET state = 'failed', next_attempt_at = NULL, text_sealed = NULL`,
      );
      const again = `UPDATE outbound_messages SET state = 'queued', next_attempt_at = $1 WHERE id = ANY ($2::uuid[])`;
      await stolen.query(again, [at, ids]);
      const id = await live();
      expect(await claimed()).toEqual({ live: [id], due: 26 });
      // The rest of them fails claim by claim, however long the queue of live codes is.
      expect(await claimed()).toEqual({ live: [], due: 25 });
    },
  );

  it('A37 leaves no ended code queued until the year 9999', async () => {
    await ended();
    await stolen.query(`UPDATE outbound_messages SET next_attempt_at = '9999-12-31'`);
    expect(await claimed()).toEqual({ live: [], due: 0 });
    expect(await claimed({ everyExpired: true, expiredLimit: 100 })).toEqual({ live: [], due: 100 });
  });

  it('A37 queues a code of a gateway that is gone again before any number of older ones, and none stays claimed', async () => {
    await ended();
    const claim = `UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, claimed_until = $1`;
    await stolen.query(claim, ['0001-01-01 BC']);
    const id = await live();
    await harness.database.query(`${claim} WHERE id = $2`, ['now', id]);
    expect(await messages.requeueLapsed(harness.database, poll())).toBeNull();
    expect(await stateOf(id)).toBe('queued');
    const kept = await live();
    await stolen.query(`${claim} WHERE id = $2`, ['9999-12-31', kept]);
    await messages.requeueLapsed(harness.database, poll());
    expect(await stateOf(kept)).toBe('queued');
  });

  const SUBMISSION = `INSERT INTO submissions (carrier, smsc_message_id, receipt_state, network_error, updated_at)
    VALUES ('north', $1, $2, 'FORGED', $3)`;
  const named = (smscMessageId: string, messageId: Uuid) =>
    harness.database.transaction((tx) =>
      messages.recordAttempts(tx, [
        {
          id: messageId,
          attempt: 1,
          carrier: 'north',
          link: { systemId: session.id },
          outcome: { kind: 'submitted', smscMessageId, receiptId: smscMessageId },
        },
      ]),
    );
  const sending = async (): Promise<Uuid> => {
    const id = await live();
    await harness.database.query(
      `UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, attempts = 1,
         claimed_until = now() + interval '1 minute' WHERE id = $1`,
      [id],
    );
    return id;
  };

  it('A37 writes no receipt of a state that there is not, and one from before fails no code', async () => {
    expect(await refused(stolen, SUBMISSION, ['1', 'x', 'now'])).toBe(CHECK_VIOLATION);
    await asOwner(harness, 'ALTER TABLE submissions DROP CONSTRAINT submissions_keys_check');
    expect(await refused(stolen, SUBMISSION, ['1', 'x', 'now'])).toBe('done');
    const id = await sending();
    await named('1', id);
    expect(await stateOf(id)).toBe('submitted');
  });

  it.each(['9999-01-01', 'tomorrow', 'yesterday'])(
    'A37 ends no code by a receipt of %s, and the genuine one does',
    async (at) => {
      for (const name of ['1', '2']) await stolen.query(SUBMISSION, [name, 'undelivered', at]);
      const id = await sending();
      await named('1', id);
      expect(await stateOf(id)).toBe('submitted');
      const [other, genuine] = [await sending(), { carrier: 'north', smscMessageId: '2', state: 'delivered' }] as const;
      await harness.database.transaction((tx) => messages.applyReceipts(tx, [{ ...genuine, networkError: null }]));
      await named('2', other);
      expect(await stateOf(other)).toBe('delivered');
    },
  );

  it('A37 keeps no carrier id of a time to come', async () => {
    await stolen.query(SUBMISSION, ['1', 'delivered', '9999-01-01']);
    expect(await messages.purgeOrphans(harness.database)).toBe(1);
    await stolen.query(SUBMISSION, ['1', 'delivered', '9999-01-01']);
    await stolen.query('UPDATE submissions SET message_id = gen_random_uuid()');
    expect(await messages.purgeOld(harness.database)).toBe(1);
  });

  it('A37 keeps no parts of a long message of a time to come, and joins none with them', async () => {
    const key = Buffer.alloc(32, 7);
    const parts = new ConcatenationStore(harness.keys);
    await stolen.query(`INSERT INTO concatenations (key, total, updated_at) VALUES ($1, 2, '9999-01-01')`, [key]);
    expect(await parts.purgeOld(harness.database, 600)).toBe(1);
  });
});

describe('cards', () => {
  let harness: CardHarness;
  let stolen: Database;

  beforeAll(async () => {
    harness = await openCardHarness();
    stolen = await stolenConnection(harness.gatewayUrl);
  });
  afterAll(async () => {
    await stolen.close();
    await harness.close();
  });

  const EVENTS = `INSERT INTO card_events (id, kind, agent_id, phone, occurred_at, received_at)
    SELECT id, 'unsubscribed', ${LONG}, '+1', now(), now() FROM unnest($1::uuid[]) AS id`;

  it('A37 writes no text that no key holds, and events of before that cannot be applied are marked, behind new ones', async () => {
    const ids = Array.from({ length: 20 }, () => harness.clock.newId());
    expect(await refused(stolen, EVENTS, [ids])).toBe(CHECK_VIOLATION);
    await asOwner(harness, 'ALTER TABLE card_events DROP CONSTRAINT card_events_keys_check');
    expect(await refused(stolen, EVENTS, [ids])).toBe('done');
    const card = await harness.draftCard();
    const genuine = harness.eventOf(card, 'unsubscribed', { messageId: null });
    await harness.cards.events.storeEvents([genuine]);
    const { database, clock, keys } = harness;
    const sessions = new SessionStore({ database, clock, keys, listener: { onEvents: () => undefined } });
    const decisions = new CardDecisions(database, harness.cards.events, harness.cards.arrivals, sessions);
    const errors: unknown[] = [];
    const log = { error: (error: unknown) => void errors.push(error) };
    const processor = new RcsEventProcessor(decisions, { onDecided: () => undefined }, { batchMaxCommands: 500 }, log);
    processor.start();
    await until('no event is left', WITHIN_MS, async () => (await decisions.findUnprocessed(1)).length === 0);
    // One that another statement holds is not found: it is marked a moment later.
    await until('all are marked', WITHIN_MS, async () => {
      const marked = await database.query(`SELECT FROM card_events WHERE outcome = 'refused'`);
      return marked.length === ids.length;
    });
    await processor.stop();
    expect(await harness.outcomesOf([genuine])).toEqual(['noted']);
    expect(errors.length).toBeGreaterThan(0);
  });

  it.each([
    ['card_recipients', `(agent_id, phone) VALUES (repeat('x', 5000), '+1')`],
    ['card_agents', `(agent_id, launch_state, suspended, changed_at) VALUES (repeat('x', 5000), '', true, now())`],
    ['card_phones', `(phone, changed_at) VALUES (repeat('x', 5000), now())`],
    ['submissions', `(carrier, smsc_message_id, updated_at) VALUES (repeat('x', 2000), repeat('x', 2000), now())`],
    ['concatenations', `(key, total, updated_at) VALUES (decode(repeat('00', 5000), 'hex'), 2, now())`],
    ['row_leases', `(name, owner, expires_at) VALUES (repeat('x', 5000), gen_random_uuid(), now())`],
  ])('A37 writes no key of %s that is larger than one: %s', async (table, row) => {
    expect(await refused(stolen, `INSERT INTO ${table} ${row}`)).toBe(CHECK_VIOLATION);
  });

  it('A37 claims a revoke before any number of those that are of no use any more', async () => {
    const { id } = await harness.sent();
    const columns =
      'account_id, brand_id, waiter, agent_id, phone, brand_name, number_matching, key_version, message_id, state';
    await harness.database.query(
      `INSERT INTO cards (id, ${columns}, created_at, expires_at)
       SELECT old, ${columns}, created_at, now() - interval '1 hour' FROM cards, unnest($2::uuid[]) AS old WHERE id = $1`,
      [id, Array.from({ length: 700 }, () => harness.clock.newId())],
    );
    await stolen.query(`UPDATE cards SET errand = 'revoke', errand_due_at = '0001-01-01 BC' WHERE id <> $1`, [id]);
    await harness.database.query(`UPDATE cards SET errand = 'revoke', errand_due_at = now() WHERE id = $1`, [id]);
    expect((await harness.cards.commands.claimDueCommands(10, 60)).map((command) => command.id)).toEqual([id]);
  });
});
