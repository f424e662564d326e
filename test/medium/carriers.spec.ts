import {
  type Bind,
  bindPassword,
  CarrierDirectory,
  CarrierStore,
  systemPasswordMatches,
} from '@countersign/carriers/config';
import {
  ConcatenationStore,
  MAX_STORED_PART_CHARACTERS,
  MessageStore,
  type NearbyParts,
  type MessageFate,
  type MessagePart,
  type NewInboundMessage,
} from '@countersign/carriers/inbound';
import { BindLeaseStore } from '@countersign/carriers/leases';
import { type BindRecord, BINDS } from '@countersign/carriers/records';
import { DataError } from '@countersign/postgres';
import type { Fate } from '@countersign/session/rules';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { openSessionHarness, PHONE, type SessionHarness } from '../support/session-harness.js';

const NO_STATUS = {
  host: null,
  since: null,
  windowUsed: 0,
  submitPerSecond: 0,
  deliverPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  reconnects: 0,
  lastError: null,
};

let harness: SessionHarness;
let store: CarrierStore;

beforeAll(async () => {
  harness = await openSessionHarness();
  store = new CarrierStore({ keys: harness.keys, newId: () => harness.clock.newId() });
});
afterAll(() => harness.close());

describe('systems and binds', () => {
  it('have the defaults of the contract, and a password that is checked, not read', async () => {
    const made = await store.createSystem(harness.database, { systemId: 'agg1', carrier: 'agg', password: 'secret' });
    expect(await new CarrierDirectory(harness.database).system('agg1')).toEqual(made);
    expect(await new CarrierDirectory(harness.database).system('nobody')).toBeNull();
    expect(made).toMatchObject({
      systemId: 'agg1',
      carrier: 'agg',
      bindTypes: ['transmitter', 'receiver', 'transceiver'],
      allowedCidrs: [],
      maxConnections: 4,
      tlsRequired: false,
      trustedForMo: false,
      defaultAlphabet: 'gsm',
      retryableMoStatus: 20,
      submitOptions: {},
      enabled: true,
    });
    expect(systemPasswordMatches(harness.keys, made, 'secret')).toBe(true);
    expect(systemPasswordMatches(harness.keys, made, 'wrong')).toBe(false);
    const taken = store.createSystem(harness.database, { systemId: 'agg1', carrier: 'agg', password: 'other' });
    await expect(taken).rejects.toThrow(DataError);
  });

  it('list binds as they are wanted, with a password that opens', async () => {
    const made = await store.createBind(harness.database, {
      name: 'Carrier one',
      carrier: 'one',
      hosts: [
        { host: 'a.example', port: 2775 },
        { host: 'b.example', port: 2776 },
      ],
      tls: { enabled: true, serverName: 'smpp.example' },
      systemId: 'us',
      password: 'hunter2',
      trustedForMo: true,
    });
    const [bind, ...others] = await new CarrierDirectory(harness.database).listBinds();
    expect(others).toEqual([]);
    expect(bind).toEqual(made);
    expect(bind).toMatchObject({
      hosts: [
        { host: 'a.example', port: 2775 },
        { host: 'b.example', port: 2776 },
      ],
      tls: { enabled: true, serverName: 'smpp.example' },
      bindType: 'transceiver',
      interfaceVersion: '3.4',
      sendWindow: 10,
      enquireLinkSeconds: 30,
      responseTimeoutSeconds: 10,
      trustedForMo: true,
      enabled: true,
    });
    expect(bindPassword(harness.keys, made)).toBe('hunter2');
  });
});

describe('what engineers look after', () => {
  const draft = { carrier: 'one', hosts: [{ host: 'a.example', port: 2775 }], systemId: 'us', password: 'hunter2' };

  it('is written whole, with another password only where one is given', async () => {
    const { slots: _slots, ...bind } = await locked(
      await store.createBind(harness.database, { ...draft, name: 'whole' }),
    );
    const changes = { ...bind, name: 'changed', sendWindow: 3, temporaryStatuses: [88], generation: 1, enabled: false };
    expect(await store.updateBind(harness.database, changes)).toEqual(changes);
    const rekeyed = await store.updateBind(harness.database, changes, { password: 'other' });
    expect([bindPassword(harness.keys, changes), bindPassword(harness.keys, rekeyed)]).toEqual(['hunter2', 'other']);
    const system = await store.createSystem(harness.database, {
      systemId: 'whole',
      carrier: 'one',
      password: 'secret',
    });
    const narrowed = { ...system, allowedCidrs: ['10.0.0.0/8'], submitPerSecond: 5 };
    expect(await store.updateSystem(harness.database, narrowed)).toEqual(narrowed);
    const other = await store.updateSystem(harness.database, narrowed, { password: 'other' });
    expect(['secret', 'other'].map((password) => systemPasswordMatches(harness.keys, other, password))).toEqual([
      false,
      true,
    ]);
  });

  it('keeps what it does not write: the time of a full trace is another’s', async () => {
    const bind = await store.createBind(harness.database, { ...draft, name: 'traced' });
    const until = new Date('2030-01-01T00:00:00Z');
    await harness.database.query('UPDATE binds SET full_trace_until = $2 WHERE id = $1', [bind.id, until]);
    expect((await store.updateBind(harness.database, { ...bind, sendWindow: 3 })).fullTraceUntil).toEqual(until);
  });

  it('is deleted, but a bind not under a route', async () => {
    const bind = await store.createBind(harness.database, { ...draft, name: 'deleted' });
    const route = await store.createRoute(harness.database, { prefix: '+1', bindId: bind.id });
    await expect(store.deleteBind(harness.database, bind.id)).rejects.toMatchObject({
      constraint: 'routes_bind_id_fkey',
    });
    await store.deleteRoute(harness.database, route.id);
    await store.deleteBind(harness.database, bind.id);
    expect(await BINDS.find(harness.database, bind.id)).toBeNull();
  });

  it('leaves the connections of a deleted bind to who holds them, until they are drained', async () => {
    const leases = new BindLeaseStore();
    const gateway = harness.clock.newId();
    const bind = await store.createBind(harness.database, { ...draft, name: 'drained', connections: 2 });
    await leases.survey(harness.database);
    const claimed = await leases.claimSlots(harness.database, gateway, [{ bindId: bind.id, slot: 0 }]);
    await store.deleteBind(harness.database, bind.id);
    expect(await slotsOf(bind)).toEqual([0]);
    expect((await leases.findHeldLeases(harness.database, claimed)).size).toBe(1);
    const held = claimed.map((lease) => ({ lease, status: { ...NO_STATUS, state: 'draining' as const } }));
    expect((await leases.renewLeases(harness.database, gateway, held)).size).toBe(1);
    await leases.releaseLeases(harness.database, gateway, held);
    expect((await leases.survey(harness.database)).slots.some(({ bindId }) => bindId === bind.id)).toBe(false);
    await store.deleteBind(harness.database, (await store.createBind(harness.database, { ...draft, name: 'next' })).id);
    expect(await slotsOf(bind)).toEqual([]);
  });

  it('finds a name for a bind that has none, whatever others are called', async () => {
    const name = 'us@10%_.example';
    expect(await store.freeBindName(harness.database, name)).toBe(name);
    for (const taken of [name, `${name} 2`, `${name} 4`, `${name}x`]) {
      await store.createBind(harness.database, { ...draft, name: taken });
    }
    expect(await store.freeBindName(harness.database, name)).toBe(`${name} 3`);
  });

  async function slotsOf({ id }: Bind): Promise<number[]> {
    const rows = await harness.database.query<{ slot: number }>(
      'SELECT slot FROM bind_connections WHERE bind_id = $1',
      [id],
    );
    return rows.map(({ slot }) => slot);
  }

  async function locked({ id }: Bind): Promise<BindRecord> {
    const record = await harness.database.transaction((tx) => BINDS.lock(tx, id));
    if (record === null) throw new Error('the bind is not there');
    return record;
  }
});

describe('inbound numbers', () => {
  it('serve a country as soon as they are made', async () => {
    const directory = new CarrierDirectory(harness.database);
    expect(await directory.inboundNumberFor('US')).toBeNull();
    await store.createInboundNumber(harness.database, { number: '+14155550100', countries: ['*'] });
    expect(await directory.inboundNumberFor('US')).toBe('+14155550100');
    await store.createInboundNumber(harness.database, { number: '60606', countries: ['CH'] });
    const later = new CarrierDirectory(harness.database);
    expect(await later.inboundNumberFor('CH')).toBe('60606');
    expect(await later.inboundNumberFor('FR')).toBe('+14155550100');
    expect(await later.receivingCountry({ ton: 3, npi: 1, value: '60606' })).toBe('CH');
    expect(await later.receivingCountry({ ton: 1, npi: 1, value: '14155550100' })).toBe('US');
  });

  it('are numbers or short codes, and unique', async () => {
    for (const number of ['14155550100', 'ACME', '+1', '']) {
      await expect(store.createInboundNumber(harness.database, { number, countries: ['*'] })).rejects.toThrow(
        DataError,
      );
    }
    const twice = { number: '70707', countries: ['*'] };
    await store.createInboundNumber(harness.database, twice);
    await expect(store.createInboundNumber(harness.database, twice)).rejects.toMatchObject({ sqlState: '23505' });
  });
});

describe('messages', () => {
  const message = (changes: Partial<NewInboundMessage> = {}): NewInboundMessage => {
    const id = harness.clock.newId();
    return {
      id,
      carrier: 'agg',
      linkId: harness.account.id,
      source: '14155552671',
      sourceTon: 1,
      sourceNpi: 1,
      destination: '14155550100',
      dataCoding: 0,
      textSealed: harness.keys.seal('message-text', 'AUTH', id),
      part: null,
      fate: 'no_token',
      sessionId: null,
      accountId: null,
      ...changes,
    };
  };
  const storedAs = (ids: readonly string[]): Promise<{ id: string; fate: string; source: string; sealed: Buffer }[]> =>
    harness.database.query(
      'SELECT id, fate, source, text_sealed AS sealed FROM messages WHERE id = ANY ($1) ORDER BY id',
      [ids],
    );

  it('are stored in sets, sealed, and a second run changes nothing', async () => {
    const messages = [message(), message({ fate: 'untrusted', part: { number: 2, total: 3 }, dataCoding: 255 })];
    const ids = messages.map(({ id }) => id);
    await new MessageStore().insertInbound(harness.database, messages);
    await new MessageStore().insertInbound(
      harness.database,
      messages.map((each) => ({ ...each, fate: 'duplicate' })),
    );
    await new MessageStore().insertInbound(harness.database, []);
    const stored = await storedAs(ids);
    const fates = new Map(stored.map(({ id, fate }) => [id, fate]));
    expect(ids.map((id) => fates.get(id))).toEqual(['no_token', 'untrusted']);
    for (const { id, sealed } of stored) {
      expect(harness.keys.open('message-text', sealed, id).toString()).toBe('AUTH');
    }
  });

  it('are stored whatever the carrier wrote for an address', async () => {
    const odd = ['', '\0', 'a\0b', '\ud800', 'ünï 🙂', "'; --", '\u00ff'.repeat(21), '\\', '"'];
    const messages = odd.map((source) => message({ source }));
    await new MessageStore().insertInbound(harness.database, messages);
    const stored = new Map((await storedAs(messages.map(({ id }) => id))).map(({ id, source }) => [id, source]));
    expect(messages.map(({ id }) => stored.get(id))).toEqual(
      odd.map((source) => source.replace('\0', '\ufffd').replace('\ud800', '\ufffd')),
    );
  });

  it('know the same fates as sessions do', () => {
    expectTypeOf<MessageFate>().toEqualTypeOf<Fate>();
  });
});

describe('parts of long messages', () => {
  const part = (number: number, edges: string, changes: Partial<MessagePart> = {}): MessagePart => ({
    carrier: 'agg',
    source: PHONE,
    destination: '+14155550100',
    reference: 1,
    referenceBits: 8,
    total: 3,
    number,
    edges,
    ...changes,
  });
  const add = (...parts: readonly MessagePart[]): Promise<NearbyParts[]> =>
    harness.database.transaction((tx) => new ConcatenationStore(harness.keys).addParts(tx, parts));
  const textsOf = (parts: NearbyParts): Record<string, string> => Object.fromEntries(parts);

  it('meet in any order, each seeing those before it', async () => {
    const [third] = await add(part(3, 'c'));
    const [first, second] = await add(part(1, 'a'), part(2, 'b'));
    expect([third, first, second].map((each) => each && textsOf(each))).toEqual([
      { 3: 'c' },
      { 1: 'a', 3: 'c' },
      { 1: 'a', 2: 'b', 3: 'c' },
    ]);
  });

  it('change nothing when they come again', async () => {
    await add(part(1, 'a', { reference: 2 }));
    await add(part(1, 'a', { reference: 2 }), part(1, 'a', { reference: 2 }));
    const [again] = await add(part(2, 'b', { reference: 2 }));
    expect(again && textsOf(again)).toEqual({ 1: 'a', 2: 'b' });
  });

  it('are not mixed up between senders, receivers, carriers, references, their widths and totals', async () => {
    const others: Partial<MessagePart>[] = [
      {},
      { source: '+14155552672' },
      { destination: '60606' },
      { carrier: 'other' },
      { reference: 4 },
      { referenceBits: 16 },
      { total: 2 },
    ];
    const parts = others.map((changes, at) => part(1, String(at), { reference: 3, ...changes }));
    const together = await add(...parts);
    expect(together.map(textsOf)).toEqual(parts.map(({ edges }) => ({ 1: edges })));
    const later = await add(...parts.map((each) => ({ ...each, number: 2, edges: 'x' })));
    expect(later.map(textsOf)).toEqual(parts.map(({ edges }) => ({ 1: edges, 2: 'x' })));
  });

  it('are not joined to a message of ten minutes ago that had the same reference', async () => {
    await add(part(1, 'old', { reference: 5 }), part(2, 'old', { reference: 5 }));
    await harness.database.query(`UPDATE concatenations SET updated_at = clock_timestamp() - interval '601 seconds'`);
    const [fresh] = await add(part(1, 'new', { reference: 5 }));
    expect(fresh && textsOf(fresh)).toEqual({ 1: 'new' });
    const [second] = await add(part(2, 'new', { reference: 5 }));
    expect(second && textsOf(second)).toEqual({ 1: 'new', 2: 'new' });
  });

  it('take the newest text when a phone uses its reference again at once', async () => {
    await add(part(1, 'old one', { reference: 6 }), part(2, 'old two', { reference: 6 }));
    const [first] = await add(part(1, 'new one', { reference: 6 }));
    expect(first && textsOf(first)).toEqual({ 1: 'new one', 2: 'old two' });
  });

  it('see each other across transactions that run at once: the last of them completes the message', async () => {
    const rounds = Array.from({ length: 40 }, (_, at) => at + 100);
    const completed = await Promise.all(
      rounds.map(async (reference) => {
        const [one, two] = await Promise.all([
          add(part(1, 'a', { reference, total: 2 }), part(1, 'x', { reference: 999, total: 255 })),
          add(part(2, 'y', { reference: 999, total: 255 }), part(2, 'b', { reference, total: 2 })),
        ]);
        return [one[0], two[1]].filter((nearby) => nearby?.size === 2).length;
      }),
    );
    expect(completed).toEqual(rounds.map(() => 1));
  });

  it('are stored up to a bound, and sealed with their place', async () => {
    const long = '字'.repeat(MAX_STORED_PART_CHARACTERS + 10);
    const [whole] = await add(part(1, long, { reference: 7 }));
    expect(whole?.get(1)).toBe(long);
    const [next] = await add(part(2, 'b', { reference: 7 }));
    expect(next?.get(1)).toBe(long.slice(0, MAX_STORED_PART_CHARACTERS));
  });

  it('are read as far as a token can need, not all of them', async () => {
    const many = { reference: 9, total: 255 };
    const wide = 'x'.repeat(131);
    await add(...Array.from({ length: 254 }, (_, at) => part(at < 99 ? at + 1 : at + 2, wide, many)));
    const [nearby] = await add(part(100, 'new', many));
    expect([...(nearby?.keys() ?? [])].sort((a, b) => a - b)).toEqual([98, 99, 100, 101, 102]);
  });

  it('are read further where the nearest have little text', async () => {
    const many = { reference: 10, total: 255 };
    await add(
      ...Array.from({ length: 254 }, (_, at) => part(at < 99 ? at + 1 : at + 2, at % 2 === 0 ? '' : 'a', many)),
    );
    const [nearby] = await add(part(100, 'new', many));
    const numbers = [...(nearby?.keys() ?? [])];
    expect([Math.min(...numbers), Math.max(...numbers)]).toEqual([36, 164]);
  });

  it('are forgotten when no part has joined for a while, and only then', async () => {
    const store = new ConcatenationStore(harness.keys);
    await harness.database.query(`UPDATE concatenations SET updated_at = clock_timestamp() - interval '1 hour'`);
    await add(part(1, 'young', { reference: 8 }));
    expect(await store.purgeOld(harness.database, 1_800)).toBeGreaterThan(10);
    expect(await store.purgeOld(harness.database, 1_800)).toBe(0);
    const [left] = await harness.database.query<{ wholes: number; parts: number }>(
      `SELECT (SELECT count(*)::int FROM concatenations) AS wholes, (SELECT count(*)::int FROM concatenation_parts) AS parts`,
    );
    expect(left).toEqual({ wholes: 1, parts: 1 });
  });

  it('are nothing when there are none', async () => {
    expect(await add()).toEqual([]);
  });
});
