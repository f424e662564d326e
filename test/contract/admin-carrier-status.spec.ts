import { openPubSub, type PubSub } from '@countersign/bus';
import { SystemRefusalStore } from '@countersign/carriers/credentials';
import { BindLeaseStore, GatewayStore, SystemConnectionStore } from '@countersign/carriers/leases';
import { type ConnectionEvent, type ConnectionStatus, withEvent } from '@countersign/carriers/status';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import { ControlPlaneSettings, loadSettings } from '@countersign/settings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { until } from '../support/until.js';

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let bus: PubSub;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  bus = openPubSub(loadSettings(ControlPlaneSettings, harness.environment), () => undefined);
});
afterAll(async () => {
  await bus.close();
  await harness.close();
});

const gateways = new GatewayStore();
const leases = new BindLeaseStore();
let made = 0;

/** A gateway with a fresh heartbeat. */
async function newGateway(stopping = false): Promise<Uuid> {
  const id = harness.clock.newId();
  await gateways.recordHeartbeat(harness.database, { id, host: 'gateway-1', version: '1.2.3' }, stopping);
  return id;
}

/** Ages a process's heartbeat to this many seconds: it is paused, or was killed. */
async function silence(gateway: Uuid, seconds: number): Promise<void> {
  const sets = { gateways: 'seen_at = seen_at', bind_connections: 'expires_at = expires_at' };
  for (const [table, set] of Object.entries(sets)) {
    const its = table === 'gateways' ? 'id' : 'owner';
    const values = [gateway, seconds];
    await harness.database.query(`UPDATE ${table} SET ${set} - $2 * interval '1 second' WHERE ${its} = $1`, values);
  }
}

const kill = (gateway: Uuid): Promise<void> => silence(gateway, 16);

const newBind = (changes: Readonly<Record<string, unknown>> = {}): Promise<Answer> => {
  const hosts = [{ host: 'smsc.north.example', port: 2775 }];
  return admin.post('binds', { name: `carrier ${(made += 1)}`, hosts, systemId: 'us', password: 'secret', ...changes });
};

const BOUND: ConnectionStatus = {
  host: 'smsc.north.example',
  state: 'bound',
  since: '2026-01-31T12:00:00.000Z',
  windowUsed: 3,
  submitPerSecond: 12.5,
  deliverPerSecond: 2,
  throttled: 1,
  enquireLinkMs: 20,
  reconnects: 4,
  lastError: 'closed by the carrier',
  lastErrorAt: '2026-01-31T11:59:00.000Z',
  previousError: { error: 'refused', at: '2026-01-31T11:00:00.000Z', clearedAt: '2026-01-31T11:00:10.000Z' },
  unanswered: 2,
};
/** Beside the fields of the contract: the measured rates under names of their own. */
const MEASURED = { measuredSubmitPerSecond: 12.5, measuredDeliverPerSecond: 2 };

/** Makes a gateway hold connections of a bind and report each. */
async function hold(gateway: Uuid, bind: string, statuses: readonly ConnectionStatus[]): Promise<void> {
  const bindId = parseId('bind', bind) ?? '';
  await leases.survey(harness.database);
  const slots = statuses.map((_, slot) => ({ bindId, slot }));
  const claimed = await leases.claimSlots(harness.database, gateway, slots);
  const held = claimed.map((lease) => ({ lease, status: statuses[lease.slot] ?? BOUND }));
  expect((await leases.renewLeases(harness.database, gateway, held)).size).toBe(statuses.length);
}

describe('the status of a bind', () => {
  it('is the last report of the gateways that hold its connections', async () => {
    const id = idOf(await newBind({ connections: 2 }));
    const gateway = await newGateway();
    await hold(gateway, id, [BOUND, { ...BOUND, state: 'connecting', host: null, enquireLinkMs: null }]);
    const owner = renderId('gw', gateway);
    expect((await admin.get(`binds/${id}`)).json['status']).toEqual({
      state: 'degraded',
      learnedSenderFormat: null,
      connections: [
        { ...BOUND, ...MEASURED, owner },
        { ...BOUND, ...MEASURED, owner, state: 'connecting', host: null, enquireLinkMs: null },
      ],
    });
    await hold(gateway, id, [BOUND, BOUND]);
    const [listed] = dataOf(await admin.get('binds?limit=1'));
    expect(listed).toMatchObject({ id, status: { state: 'bound' } });
  });

  it('has a history that outlives the gateways, newest first, a repeated error once', async () => {
    const id = idOf(await newBind());
    const bindId = parseId('bind', id) ?? '';
    const gateway = await newGateway();
    await hold(gateway, id, [BOUND]);
    expect((await admin.get(`binds/${id}/history`)).json).toEqual({ data: [] });
    const at = (second: number): string => `2026-01-31T12:00:0${second}.000Z`;
    const host = 'smsc.north.example:2775';
    const refused = { event: 'error', host, error: 'refused', gatewayId: gateway } as const;
    const bound = { event: 'bound', host, error: null, gatewayId: gateway } as const;
    const events = [refused, refused, bound].reduce<readonly ConnectionEvent[]>(
      (before, event, second) => withEvent(before, { ...event, at: at(second) }),
      [],
    );
    const [lease] = await leases.claimSlots(harness.database, gateway, [{ bindId, slot: 0 }]);
    if (lease === undefined) throw new Error('not claimed');
    await leases.renewLeases(harness.database, gateway, [{ lease, status: BOUND, events }]);
    await kill(gateway);
    const shown = { slot: 0, host, gateway: renderId('gw', gateway) };
    expect((await admin.get(`binds/${id}/history`)).json).toEqual({
      data: [
        { ...shown, event: 'bound', at: at(2), lastAt: at(2), times: 1, error: null },
        { ...shown, event: 'error', at: at(0), lastAt: at(1), times: 2, error: 'refused' },
      ],
    });
    expect((await admin.get(`binds/${renderId('bind', harness.clock.newId())}/history`)).status).toBe(404);
  });

  it('is in the answer to a change, too, and never in the audit log', async () => {
    const id = idOf(await newBind());
    await hold(await newGateway(), id, [BOUND]);
    const changed = await admin.patch(`binds/${id}`, { window: 20 });
    expect(changed.json['status']).toMatchObject({ state: 'bound', connections: [{ windowUsed: 3 }] });
    const disabled = await admin.post(`binds/${id}/drain`);
    expect(disabled.json['status']).toMatchObject({ state: 'disabled', connections: [{ state: 'bound' }] });
    for (const { before, after } of await admin.notes(id)) {
      expect([before?.['status'], after?.['status']]).toEqual([undefined, undefined]);
    }
  });

  it('is unbound where the lease has expired, whatever the last report', async () => {
    const id = idOf(await newBind());
    const gateway = await newGateway();
    await hold(gateway, id, [BOUND]);
    await kill(gateway);
    const { json } = await admin.get(`binds/${id}`);
    expect(json['status']).toMatchObject({
      state: 'unbound',
      connections: [
        {
          owner: null,
          state: 'unbound',
          windowUsed: 0,
          reconnects: 4,
          lastError: BOUND.lastError,
          lastErrorAt: BOUND.lastErrorAt,
          previousError: BOUND.previousError,
        },
      ],
    });
  });

  it('is not bound by a gateway without a heartbeat, although its lease has not expired yet', async () => {
    const id = idOf(await newBind());
    const gateway = await newGateway();
    await hold(gateway, id, [BOUND]);
    await silence(gateway, 11);
    const { json } = await admin.get(`binds/${id}`);
    expect(json['status']).toMatchObject({ state: 'unbound', connections: [{ owner: null, state: 'unbound' }] });
    const since = (json['status'] as { connections: { since: string }[] }).connections[0]?.since ?? '';
    expect(Date.parse(since)).toBeLessThan(Date.now());
    const { leases: shown } = (await admin.get(`gateways/${renderId('gw', gateway)}`)).json;
    expect(shown).toMatchObject([{ bindId: id, state: 'unbound' }]);
  });

  it('shows a removed connection as long as it is held', async () => {
    const id = idOf(await newBind({ connections: 2 }));
    await hold(await newGateway(), id, [BOUND, { ...BOUND, state: 'draining' }]);
    const fewer = await admin.patch(`binds/${id}`, { connections: 1 });
    expect(fewer.json['status']).toMatchObject({ state: 'bound', connections: [{}, { state: 'draining' }] });
  });
});

describe('the connections of a system', () => {
  it('are its links to running gateways', async () => {
    const system = await admin.post('smpp-systems', { systemId: 'connected' });
    const systemId = parseId('sys', idOf(system)) ?? '';
    const [living, dead] = [await newGateway(), await newGateway()];
    const connection = {
      systemId,
      address: '192.0.2.7:50123',
      bindType: 'receiver' as const,
      status: {
        state: 'bound' as const,
        tls: true,
        windowUsed: 1,
        submitPerSecond: 0.5,
        throttled: 2,
        enquireLinkMs: 7,
        lastError: null,
      },
    };
    for (const gateway of [living, dead]) {
      const connections = [{ ...connection, id: harness.clock.newId() }];
      await new SystemConnectionStore(gateway).replaceConnections(harness.database, connections);
    }
    await kill(dead);
    const { json } = await admin.get(`smpp-systems/${idOf(system)}`);
    const { address, bindType, status } = connection;
    const more = { measuredSubmitPerSecond: 0.5, unanswered: 0, lastErrorAt: null };
    const expected = { owner: renderId('gw', living), address, bindType, ...status, ...more };
    expect(json['connections']).toEqual([{ ...expected, since: expect.stringMatching(/Z$/) as string }]);
    const changed = await admin.patch(`smpp-systems/${idOf(system)}`, { maxConnections: 1 });
    expect(changed.json['connections']).toEqual(json['connections']);
    expect((await admin.log()).includes(address)).toBe(false);
  });
});

describe('the gateways', () => {
  it('are the running ones, with their versions and connections', async () => {
    const bind = idOf(await newBind());
    const gateway = await newGateway();
    await hold(gateway, bind, [BOUND]);
    const id = renderId('gw', gateway);
    const shown = await admin.get(`gateways/${id}`);
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect(shown.json).toEqual({
      id,
      host: 'gateway-1',
      version: '1.2.3',
      startedAt: time,
      seenAt: time,
      stopping: false,
      leases: [{ bindId: bind, slot: 0, epoch: 1, expiresAt: time, state: 'bound' }],
      systemConnections: 0,
    });
    const stopping = renderId('gw', await newGateway(true));
    expect((await admin.get(`gateways/${stopping}`)).json).toMatchObject({ stopping: true, leases: [] });
    expect(dataOf(await admin.get('gateways?limit=2')).map((each) => each['id'])).toEqual([stopping, id]);
    expect(dataOf(await admin.get(`gateways?limit=1&startingAfter=${stopping}`))).toEqual([shown.json]);
  });

  it('that were killed are not among them', async () => {
    const gateway = await newGateway();
    const id = renderId('gw', gateway);
    await kill(gateway);
    expect((await admin.get(`gateways/${id}`)).code).toBe('NOT_FOUND');
    expect((await admin.get('gateways?limit=100')).text).not.toContain(id);
  });

  it('are read-only, for engineers alone', async () => {
    expect((await harness.call('/v1/admin/gateways')).code).toBe('FORBIDDEN');
    expect((await admin.post('gateways', {})).status).toBe(405);
    expect((await admin.delete(`gateways/${renderId('gw', await newGateway())}`)).status).toBe(405);
    expect((await admin.get('gateways/nonsense')).code).toBe('NOT_FOUND');
    expect((await admin.get('gateways?startingAfter=x')).field).toBe('startingAfter');
    expect((await admin.get('gateways?limit=0')).field).toBe('limit');
  });
});

describe('a change', () => {
  it('is published to the gateways once it is committed', async () => {
    const heard: string[] = [];
    for (const topic of ['binds', 'systems']) await bus.subscribe(topic, () => heard.push(topic)).ready;
    const id = idOf(await newBind());
    await until('binds', 5_000, () => heard.includes('binds'));
    heard.length = 0;
    await admin.post(`binds/${id}/reconnect`);
    await until('binds again', 5_000, () => heard.includes('binds'));
    await admin.post('smpp-systems', { systemId: 'told' });
    await until('systems', 5_000, () => heard.includes('systems'));
  });
});

describe('the refused binds of a system', () => {
  it('are shown with the last one, and end with the system', async () => {
    const id = idOf(await admin.post('smpp-systems', { systemId: 'refused-one' }));
    expect((await admin.get(`smpp-systems/${id}`)).json).toMatchObject({ refusedBinds: 0, lastRefusal: null });
    const store = new SystemRefusalStore();
    const at = new Date('2026-01-31T12:00:00.000Z');
    const refused = { systemId: 'refused-one', times: 2, at, reason: 'wrong_password', address: '192.0.2.7' };
    await store.addRefusals(harness.database, [refused, { ...refused, systemId: 'unknown' }]);
    const later = new Date('2026-01-31T12:00:01.000Z');
    await store.addRefusals(harness.database, [{ ...refused, times: 1, at: later, reason: 'address' }]);
    const expected = {
      refusedBinds: 3,
      lastRefusal: { at: later.toISOString(), reason: 'address', address: '192.0.2.7' },
    };
    expect((await admin.get(`smpp-systems/${id}`)).json).toMatchObject(expected);
    expect((await admin.patch(`smpp-systems/${id}`, { maxConnections: 2 })).json).toMatchObject(expected);
    expect(JSON.stringify(await admin.notes(id))).not.toContain('192.0.2.7');
    expect((await admin.delete(`smpp-systems/${id}`)).status).toBe(204);
    expect(await harness.database.query('SELECT 1 FROM system_refusals')).toEqual([]);
  });
});
