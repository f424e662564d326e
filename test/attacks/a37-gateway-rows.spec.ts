import { randomUUID } from 'node:crypto';
import { openPubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { CARRIER_KEY_DEPENDANTS } from '@countersign/carriers/credentials';
import { BindLeaseStore, GatewayStore, SystemConnectionStore, slotKey } from '@countersign/carriers/leases';
import type { Uuid } from '@countersign/ids';
import { Resealer } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import type { Database, Executor } from '@countersign/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCardHarness, type CardHarness } from '../support/card-harness.js';
import { Carrier } from '../support/carrier.js';
import { asOwner } from '../support/database.js';
import { sms } from '../support/gateway-harness.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { openSessionHarness, type SessionHarness } from '../support/session-harness.js';
import { refused, stolenConnection } from '../support/stolen-connection.js';
import { until } from '../support/until.js';

// Rows that were written with the database connection of a gateway, and that are there after it was closed: none stops a
// process that reads or changes it together with others.

const WITHIN_MS = 30_000;
const CHECK_VIOLATION = '23514';
const OK = 0;
const RETRYABLE = 0x14;
/** Removes a constraint, so that a row can be as a release without the constraint wrote it. */
const withoutBounds = (table: string): string => `ALTER TABLE ${table} DROP CONSTRAINT ${table}_bounds_check`;

describe('leases and heartbeats', () => {
  const leases = new BindLeaseStore();
  const gateways = new GatewayStore();
  let harness: SessionHarness;
  let stolen: Database;
  const nobody = randomUUID();

  beforeAll(async () => {
    harness = await openSessionHarness();
    stolen = await stolenConnection(harness.gatewayUrl);
  });
  afterAll(async () => {
    await stolen.close();
    await harness.close();
  });

  /** The connections of a new bind, beside those of other tests. */
  async function bindOf(connections: number): Promise<Uuid> {
    const bindId = harness.clock.newId();
    await harness.database.query(
      `INSERT INTO binds (id, name, carrier, hosts, system_id, password_sealed, connections)
       VALUES ($1, $2, 'north', '[]', 'us', '\\x00', $3)`,
      [bindId, bindId, connections],
    );
    await leases.survey(harness.database);
    return bindId;
  }
  const slotsOf = async (bindId: Uuid) =>
    (await leases.survey(harness.database)).slots.filter((slot) => slot.bindId === bindId);

  it.each([
    ['ends in the year 9999', `expires_at = '9999-12-31'`],
    ['ends in a minute', `expires_at = clock_timestamp() + interval '1 minute'`],
    ['has no end', 'expires_at = NULL'],
    ['has the last epoch', `expires_at = NULL, epoch = 9007199254740991`],
  ])('A37 keeps no connection by a lease of nobody that %s', async (_, values) => {
    const bindId = await bindOf(2);
    await stolen.query(`UPDATE bind_connections SET owner = $1, ${values} WHERE bind_id = $2 AND slot = 0`, [
      nobody,
      bindId,
    ]);
    const slots = await slotsOf(bindId);
    expect(slots.map(({ owner, leftMs }) => [owner, leftMs])).toEqual([
      [null, null],
      [null, null],
    ]);
    const owner = harness.clock.newId();
    const claimed = await leases.claimSlots(harness.database, owner, slots);
    expect(claimed.map(slotKey).sort()).toEqual([`${bindId}/0`, `${bindId}/1`]);
    expect(await leases.findHeldLeases(harness.database, claimed)).toHaveProperty('size', 2);
    // Its owner renews it; until then it has no right to act.
    await stolen.query(`UPDATE bind_connections SET expires_at = '9999-12-31' WHERE bind_id = $1`, [bindId]);
    expect(await leases.findHeldLeases(harness.database, claimed)).toHaveProperty('size', 0);
  });

  it('A37 writes no epoch that cannot be incremented, and no connection beyond those of its bind', async () => {
    const bindId = await bindOf(1);
    expect(await refused(stolen, 'UPDATE bind_connections SET epoch = 9223372036854775807')).toBe(CHECK_VIOLATION);
    expect(await refused(stolen, 'UPDATE bind_connections SET epoch = -1')).toBe(CHECK_VIOLATION);
    const insert = 'INSERT INTO bind_connections (bind_id, slot) SELECT $1, generate_series($2::int, $3::int)';
    expect(await refused(stolen, insert, [bindId, -40, -1])).toBe(CHECK_VIOLATION);
    expect(await refused(stolen, insert, [bindId, 32, 40])).toBe(CHECK_VIOLATION);
    await asOwner(harness, withoutBounds('bind_connections'));
    expect(await refused(stolen, insert, [bindId, -40, -1])).toBe('done');
    expect((await slotsOf(bindId)).map(({ slot }) => slot)).toEqual([0]);
    await stolen.query('UPDATE bind_connections SET epoch = 9223372036854775807 WHERE bind_id = $1', [bindId]);
    expect(await leases.claimSlots(harness.database, nobody, await slotsOf(bindId))).toHaveLength(1);
  });

  it('A37 keeps no running gateway from connections by marking it as stopping', async () => {
    const self = { id: harness.clock.newId(), host: 'here', version: '1' };
    await gateways.recordHeartbeat(harness.database, self, false);
    await stolen.query('UPDATE gateways SET stopping = true');
    await gateways.recordHeartbeat(harness.database, self, false);
    expect((await leases.survey(harness.database)).gateways).toEqual([self.id]);
    await gateways.deleteGateway(harness.database, self.id);
  });

  it('A37 uses up the connections of no system by gateways that never die', async () => {
    const systemId = harness.clock.newId();
    await harness.database.query(
      `INSERT INTO smpp_systems (id, system_id, password_digest, carrier) VALUES ($1, 'haunted', sha256(''), 'north')`,
      [systemId],
    );
    await stolen.query(
      `INSERT INTO gateways (id, host, version, started_at, seen_at)
       SELECT gen_random_uuid(), 'ghost', '0', now(), at FROM unnest($1::text[]::timestamptz[]) AS at`,
      [['9999-12-31', 'tomorrow']],
    );
    await stolen.query(
      `INSERT INTO system_connections (id, system_id, gateway_id, address, bind_type, since, status)
       SELECT gen_random_uuid(), $1, id, '192.0.2.1:4000', 'transceiver', now(), '{}' FROM gateways`,
      [systemId],
    );
    const own = harness.clock.newId();
    const connections = new SystemConnectionStore(own);
    expect(await connections.countOfSystemElsewhere(harness.database, systemId)).toBe(0);
    expect(await connections.countElsewhere(harness.database)).toEqual(new Map());
    expect((await leases.survey(harness.database)).gateways).toEqual([]);
    await gateways.recordHeartbeat(harness.database, { id: own, host: 'here', version: '1' }, false);
    expect(await harness.database.query('SELECT id FROM gateways')).toEqual([{ id: own }]);
    expect(await harness.database.query('SELECT id FROM system_connections')).toEqual([]);
  });
});

describe('systems and codes', () => {
  const carrier = new Carrier('out');
  let harness: OutboundHarness;
  let stolen: Database;
  const base = () => harness.gateway.harness;

  beforeAll(async () => {
    harness = await OutboundHarness.open([{ carrier }]);
    stolen = await stolenConnection(base().gatewayUrl);
  }, 60_000);
  afterAll(async () => {
    await stolen.close();
    await harness.close();
    await carrier.close();
  });

  it('A37 writes no password digest of another length, and one of an older release does not keep systems from being read', async () => {
    const { id } = await harness.gateway.system({ systemId: 'large' });
    await harness.gateway.system({ systemId: 'small' });
    const digest = `UPDATE smpp_systems SET password_digest = convert_to(repeat('x', 2000), 'UTF8') WHERE id = $1`;
    expect(await refused(stolen, digest, [id])).toBe(CHECK_VIOLATION);
    await asOwner(base(), withoutBounds('smpp_systems'));
    expect(await refused(stolen, digest, [id])).toBe('done');
    const systems = await new CarrierDirectory(base().database).listSystems();
    expect(systems.find((system) => system.id === id)?.passwordDigest).toHaveLength(0);
    expect(await harness.gateway.bindFrom('127.0.0.1', 'small')).toBe(OK);
  });

  it('A37 keeps no system trusted by rows that cannot be read', { timeout: 60_000 }, async () => {
    await harness.gateway.system({ systemId: 'unread' });
    const esme = await harness.gateway.esme('unread');
    const session = await harness.gateway.create({ ttlSeconds: 300 });
    const message = sms(harness.gateway.textOf(session));
    const lock = new pg.Client({ connectionString: base().ownerUrl });
    lock.on('error', () => undefined);
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE smpp_systems IN ACCESS EXCLUSIVE MODE');
    const age = () => harness.gateway.metric('countersign_smpp_systems_age_seconds');
    await until('the rows are outdated', WITHIN_MS, async () => (await age()) > 10);
    // The row that the bind read is newer than those of the gauge.
    const answer = async (): Promise<unknown> => (await esme.send('submit_sm', sms('hello'))).command_status;
    await until('MOs are refused', WITHIN_MS, async () => (await answer()) === RETRYABLE);
    expect((await esme.send('submit_sm', message)).command_status).toBe(RETRYABLE);
    expect(await harness.gateway.statusOf(session)).toBe('pending');
    await until('it is reported', WITHIN_MS, () =>
      harness.gateway.log.some((line) => line.includes('systems cannot be read')),
    );
    await lock.end();
    await until('the rows are read', WITHIN_MS, async () => (await age()) < 10);
    expect((await esme.send('submit_sm', message)).command_status).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
  });

  /** A claimed row, as after a kill of its gateway before the response. */
  const LAPSED = `
    UPDATE outbound_messages SET state = 'sending', next_attempt_at = NULL, claimed_by = id,
      claimed_until = clock_timestamp(), attempts = $2, unknown_fates = $3,
      refused_routes = array_fill(gen_random_uuid(), ARRAY[$4::int]), busy_routes = array_fill(id, ARRAY[$4::int])
    WHERE id = $1`;
  const queued = async (): Promise<Uuid> => harness.queueCode(await harness.gateway.create({ ttlSeconds: 300 }));
  /** A code that is not due. */
  async function waiting(): Promise<Uuid> {
    const { database } = base();
    await database.query(`UPDATE queue_switches SET paused_at = now() WHERE name = 'outbound'`);
    const id = await queued();
    await database.query(`UPDATE outbound_messages SET next_attempt_at = now() + interval '1 day' WHERE id = $1`, [id]);
    await database.query(`UPDATE queue_switches SET paused_at = NULL WHERE name = 'outbound'`);
    return id;
  }

  it('A37 holds up no other code by counts of one that cannot be counted on', async () => {
    const id = await waiting();
    expect(await refused(stolen, LAPSED, [id, 0, 32_767, 1])).toBe(CHECK_VIOLATION);
    expect(await refused(stolen, LAPSED, [id, -1, 0, 1])).toBe(CHECK_VIOLATION);
    expect(await refused(stolen, LAPSED, [id, 0, 0, 5_000])).toBe(CHECK_VIOLATION);
    expect(await refused(stolen, LAPSED, [id, 32_767, 100, 4_096])).toBe('done');
    await harness.waitForState(await queued(), 'submitted');
    expect(await harness.waitForState(id, 'failed')).toMatchObject({ networkError: 'UNKNOWN_FATE', unknownFates: 100 });
    const most = await waiting();
    expect(await refused(stolen, LAPSED, [most, 32_767, 0, 1])).toBe('done');
    await harness.waitForState(most, 'submitted');
  });

  it('A37 holds up no other code by one that cannot be queued again', async () => {
    const [stuck, lapsed] = [await waiting(), await waiting()];
    const reject = `ALTER TABLE outbound_messages ADD CONSTRAINT stuck CHECK (id <> '${stuck}' OR state = 'sending') NOT VALID`;
    // Before the claim of the row lapses, or a gateway may requeue it first.
    await asOwner(base(), reject);
    await stolen.query(LAPSED, [stuck, 0, 0, 1]);
    await stolen.query(LAPSED, [lapsed, 0, 0, 1]);
    await harness.waitForState(await queued(), 'submitted');
    await harness.waitForState(lapsed, 'submitted');
    expect(await harness.code(stuck)).toMatchObject({ state: 'sending' });
    await asOwner(base(), 'ALTER TABLE outbound_messages DROP CONSTRAINT stuck');
    await harness.waitForState(stuck, 'submitted');
  });

  it.each([
    ['a cost', `cost_usd = 'NaN'`],
    ['a cost below zero', 'cost_usd = -1'],
    ['a reason', `network_error = repeat('x', 5000)`],
    ['a sender', `source = repeat('x', 5000)`],
    ['a list of lists', `refused_routes = ARRAY[ARRAY[id]]`],
    ['a list from 2', `busy_routes = ('[2:2]={' || id || '}')::uuid[]`],
    ['a text', `text_sealed = convert_to(repeat('x', 300000), 'UTF8')`],
    ['a long log of attempts', `attempt_log = jsonb_build_array(repeat('x', 40000))`],
    ['many attempts', `attempt_log = (SELECT jsonb_agg(n) FROM generate_series(1, 41) AS n)`],
    ['attempts in no list', `attempt_log = '{}'`],
  ])('A37 writes no code with %s that a gateway does not write', async (_, values) => {
    const id = await waiting();
    const change = (set: string) => refused(stolen, `UPDATE outbound_messages SET ${set} WHERE id = $1`, [id]);
    expect(await change('cost_usd = 0.1')).toBe('done');
    expect(await change(values)).toBe(CHECK_VIOLATION);
  });
});

describe('sealed texts and messages of the bus', () => {
  let harness: SessionHarness;
  let stolen: Database;

  beforeAll(async () => {
    harness = await openSessionHarness();
    stolen = await stolenConnection(harness.gatewayUrl);
  });
  afterAll(async () => {
    await stolen.close();
    await harness.close();
  });

  const TEXTS = `
    INSERT INTO messages (id, direction, carrier, link_id, source, source_ton, source_npi, destination, data_coding,
      text_sealed, fate)
    SELECT id, 'in', 'north', id, '', 1, 1, '', 0, decode('01', 'hex') || convert_to(repeat('x', $2), 'UTF8'), 'no_token'
    FROM unnest($1::uuid[]) AS id`;

  it('A37 writes no text larger than one, and one from before, or many, fill no memory when keys are rotated', async () => {
    const ids = (count: number): Uuid[] => Array.from({ length: count }, () => harness.clock.newId());
    expect(await refused(stolen, TEXTS, [ids(1), 300_000])).toBe(CHECK_VIOLATION);
    await asOwner(harness, withoutBounds('messages'));
    expect(await refused(stolen, TEXTS, [ids(1), 3_000_000])).toBe('done');
    expect(await refused(stolen, TEXTS, [ids(100), 250_000])).toBe('done');
    const steps: number[] = [];
    const database: Executor = {
      query: async <Row extends object>(statement: string, values?: readonly unknown[]): Promise<Row[]> => {
        const rows = await harness.database.query<Row & { readonly sealed?: Buffer | null }>(statement, values);
        steps.push(rows.reduce((sum, { sealed }) => sum + (sealed?.length ?? 0), 0));
        return rows;
      },
    };
    const columns = CARRIER_KEY_DEPENDANTS.columns.filter(({ table }) => table === 'messages');
    const keys = ServerKeys.fromRing(new Map([[2, Buffer.alloc(32, 2)]]));
    const faults: unknown[] = [];
    const resealer = new Resealer({ database, keys, columns, onError: (error) => faults.push(error) });
    while (!(await resealer.step()).isPassOver);
    expect(faults).toHaveLength(100);
    expect(Math.max(...steps)).toBeLessThan(9 * 1024 * 1024);
  });

  it('A37 sends no message on the bus that is larger than it says', async () => {
    const heard: unknown[] = [];
    const bus = openPubSub({ redisUrl: null, databaseUrl: harness.url }, () => undefined);
    await bus.subscribe('test:sizes', (message) => heard.push(message.json())).ready;
    const send = async (text: string, size: number): Promise<void> => {
      const [id, payload] = [randomUUID(), Buffer.from(JSON.stringify(text))];
      await stolen.query('INSERT INTO bus_payloads (id, payload) VALUES ($1, $2)', [id, payload]);
      await stolen.query(`SELECT pg_notify('countersign_bus', $1)`, [`${id} ${size} test:sizes`]);
    };
    await send('larger than it says', 1);
    await send('as it says', 12);
    await until('a message arrives', WITHIN_MS, () => heard.length > 0);
    await bus.close();
    expect(heard).toEqual(['as it says']);
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

  it('A37 suspends no agent in a year to come', async () => {
    const agentId = 'agent_of_9999';
    const card = await harness.draftCard({ agentId });
    await stolen.query(
      `INSERT INTO card_agents (agent_id, launch_state, suspended, changed_at)
       VALUES ($1, 'SUSPENDED', true, '9999-12-31')`,
      [agentId],
    );
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'offered' });
    const occurredAt = new Date(harness.clock.nowMs());
    const launched = { phone: null, messageId: null, launchState: 'PENDING', occurredAt };
    await harness.storeAndProcess(harness.eventOf(card, 'agent', launched));
    expect(await harness.database.query('SELECT launch_state, suspended FROM card_agents')).toEqual([
      { launch_state: 'PENDING', suspended: false },
    ]);
  });

  it('A37 keeps no phone from cards by times to come', async () => {
    const card = await harness.draftCard({ agentId: 'agent_of_phone' });
    const { agentId, phone } = card;
    await stolen.query(
      `INSERT INTO card_recipients (agent_id, phone, unreachable_at, prefers_sms_at)
       VALUES ($1, $2, '9999-12-31', '9999-12-31')`,
      [agentId, phone],
    );
    await stolen.query(
      `INSERT INTO card_phones (phone, changed_at, denials, recent)
       VALUES ($1, '9999-12-31', '{9999-12-30,9999-12-31}', array_fill($2::uuid, ARRAY[3]))`,
      [phone, 'ffffffff-ffff-7fff-bfff-ffffffffffff'],
    );
    expect(await harness.cards.offers.offerCard(card)).toEqual({ kind: 'offered' });
    const event = (kind: 'subscribed' | 'unsubscribed') =>
      harness.storeAndProcess(
        harness.eventOf(card, kind, { messageId: null, occurredAt: new Date(harness.clock.nowMs()) }),
      );
    const prefers = async (): Promise<unknown> =>
      (
        await harness.database.query<{ at: Date | null }>(
          'SELECT prefers_sms_at AS at FROM card_recipients WHERE phone = $1',
          [phone],
        )
      )[0]?.at?.getUTCFullYear();
    await event('unsubscribed');
    expect(await prefers()).toBe(new Date(harness.clock.nowMs()).getUTCFullYear());
    await stolen.query(`UPDATE card_recipients SET prefers_sms_at = '9999-12-31' WHERE phone = $1`, [phone]);
    await event('subscribed');
    expect(await prefers()).toBeUndefined();
    // Nobody changes these rows again.
    await stolen.query(
      `INSERT INTO card_phones (phone, changed_at) VALUES ('+3', '9999-12-31'), ('+4', now() - interval '2 days')`,
    );
    await stolen.query(
      `INSERT INTO card_recipients (agent_id, phone, unreachable_at) VALUES ('a', '+3', '9999-12-31'), ('a', '+4', '2000-01-01')`,
    );
    await harness.cards.offers.deleteStale(10);
    for (const table of ['card_phones', 'card_recipients']) {
      expect(await harness.database.query(`SELECT FROM ${table} WHERE phone IN ('+3', '+4')`)).toEqual([]);
    }
  });

  it.each([
    ['card_phones', `(phone, changed_at, denials) VALUES ('+2', now(), ARRAY[ARRAY[now()]])`],
    ['card_phones', `(phone, changed_at, recent) VALUES ('+2', now(), '{NULL}')`],
    ['card_agents', `(agent_id, launch_state, suspended, changed_at) VALUES ('a', repeat('x', 5000), true, now())`],
    [
      'card_events',
      `(id, kind, agent_id, phone, occurred_at, received_at)
       VALUES (uuid_at(now()), 'text', 'a', repeat('x', 5000), now(), now())`,
    ],
    [
      'gateways',
      `(id, host, version, started_at, seen_at) VALUES (gen_random_uuid(), repeat('x', 5000), '', now(), now())`,
    ],
    [
      'submissions',
      `(carrier, smsc_message_id, network_error, updated_at) VALUES ('a', 'b', repeat('x', 5000), now())`,
    ],
  ])('A37 writes no row of %s that is larger than one: %s', async (table, row) => {
    const id = harness.clock.newId();
    expect(await refused(stolen, `INSERT INTO ${table} ${row.replace('uuid_at(now())', `'${id}'`)}`)).toBe(
      CHECK_VIOLATION,
    );
  });

  it('A37 counts no tries of a request to the platform that cannot be counted on, and gives no long reason', async () => {
    const { id } = await harness.sent();
    const change = (set: string) => refused(stolen, `UPDATE cards SET ${set} WHERE id = $1`, [id]);
    expect(await change('errand_tries = 32767')).toBe(CHECK_VIOLATION);
    expect(await change(`refusal = repeat('x', 5000)`)).toBe(CHECK_VIOLATION);
    expect(await change(`errand_tries = 100, refusal = repeat('x', 500)`)).toBe('done');
  });
});
