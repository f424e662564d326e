import { GatewaySettings, loadSettings } from '@countersign/settings';
import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../apps/gateway/src/gateway.js';
import { freePort } from '../../config/stack/postgres.mjs';
import { AdminCalls, dataOf, idOf } from '../support/admin-calls.js';
import { Carrier } from '../support/carrier.js';
import { ControlPlaneHarness, type Answer } from '../support/control-plane-harness.js';
import { Esme } from '../support/esme.js';
import { until } from '../support/until.js';

// An engineer, a control plane, a gateway, and a carrier on another SMPP implementation.

const SOON_MS = 15_000;
const CARRIER = 'north';
const WRONG_PASSWORD = 0x0e;

let harness: ControlPlaneHarness;
let admin: AdminCalls;
let carrier: Carrier;
let port: number;
let smppPort: number;
let stopGateway: () => Promise<void>;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  admin = new AdminCalls(harness);
  carrier = new Carrier(CARRIER);
  port = await carrier.listen();
  smppPort = await freePort();
  const environment = {
    ...harness.ofGateway,
    GATEWAY_SMPP_PORT: String(smppPort),
    GATEWAY_SMPP_TLS_PORT: String(await freePort()),
    GATEWAY_HTTP_PORT: String(await freePort()),
    GATEWAY_OPS_PORT: String(await freePort()),
  };
  const logger = createLogger({ app: 'gateway', level: 'error', destination: { write: () => undefined } });
  const gateway = await startGateway(loadSettings(GatewaySettings, environment), logger, () => undefined);
  stopGateway = () => gateway.run('the test is over');
});
afterAll(async () => {
  await stopGateway();
  await carrier.close();
  await harness.close();
});

interface Shown {
  readonly state: string;
  readonly connections: readonly { readonly state: string; readonly owner: string | null; readonly since: string }[];
}
const statusOf = async (id: string): Promise<Shown> => (await admin.get(`binds/${id}`)).json['status'] as Shown;
const shows = (id: string, state: string): Promise<void> =>
  until(`the bind is ${state}`, SOON_MS, async () => (await statusOf(id)).state === state);
const links = (count: number): Promise<void> =>
  until(`the carrier has ${count} links`, SOON_MS, () => carrier.links === count);

let made = 0;
const newBind = async (changes: Readonly<Record<string, unknown>> = {}): Promise<string> => {
  const draft = { name: `steered ${(made += 1)}`, host: '127.0.0.1', port, systemId: 'us', password: 'secret' };
  return idOf(await admin.post('binds', { ...draft, ...changes }));
};

/** Removes the bind and its links. */
async function remove(id: string): Promise<void> {
  expect((await admin.delete(`binds/${id}`)).status).toBe(204);
  await links(0);
}

describe('a bind that engineers steer', () => {
  it('is bound when it is made, and the view says by whom', async () => {
    const id = await newBind({ connections: 2 });
    await shows(id, 'bound');
    expect(carrier.links).toBe(2);
    const [gateway] = dataOf(await admin.get('gateways'));
    const { connections } = await statusOf(id);
    expect(connections).toMatchObject(Array.from({ length: 2 }, () => ({ state: 'bound', owner: gateway?.['id'] })));
    expect(gateway?.['leases']).toMatchObject([
      { bindId: id, slot: 0, state: 'bound' },
      { bindId: id, slot: 1, state: 'bound' },
    ]);
    await remove(id);
  });

  it.each(['disable', 'drain'])('to %s it is unbound, and bound again when it is enabled', async (action) => {
    const id = await newBind();
    await shows(id, 'bound');
    expect((await admin.post(`binds/${id}/${action}`)).json['status']).toMatchObject({ state: 'disabled' });
    await links(0);
    await until('the view has seen it', SOON_MS, async () =>
      (await statusOf(id)).connections.every(({ state }) => state === 'unbound'),
    );
    await admin.post(`binds/${id}/enable`);
    await shows(id, 'bound');
    await remove(id);
  });

  it('is made anew when it is to reconnect', async () => {
    const id = await newBind();
    await shows(id, 'bound');
    const since = (await statusOf(id)).connections[0]?.since;
    await admin.post(`binds/${id}/reconnect`);
    await until('it is bound anew', SOON_MS, async () => {
      const { state, connections } = await statusOf(id);
      return state === 'bound' && connections[0]?.since !== since;
    });
    expect(carrier.links).toBe(1);
    await remove(id);
  });

  it('has as many connections as are wanted at the moment', async () => {
    const id = await newBind();
    await links(1);
    await admin.patch(`binds/${id}`, { connections: 3 });
    await links(3);
    await shows(id, 'bound');
    await admin.patch(`binds/${id}`, { connections: 1 });
    await links(1);
    await until('the view has one', SOON_MS, async () => (await statusOf(id)).connections.length === 1);
    await remove(id);
  });

  it('takes the codes of its routes, and a drained one takes none', async () => {
    const id = await newBind();
    await shows(id, 'bound');
    await admin.post('routes', { prefix: '+', bindId: id });
    const send = async (): Promise<Answer> => {
      const session = await harness.create({ phone: `+1415555${String((made += 1)).padStart(4, '0')}` });
      return harness.call(`/v1/verify/${idOf(session)}/send-sms`, { method: 'POST' });
    };
    expect((await send()).status).toBe(200);
    await until('the code is submitted', SOON_MS, () => carrier.submits.length === 1);
    await admin.post(`binds/${id}/drain`);
    expect((await send()).code).toBe('SERVICE_UNAVAILABLE');
    await links(0);
  });
});

describe('a system that engineers steer', () => {
  it('may bind when it is made, is shown while it is, and may not when it is disabled', async () => {
    const systemId = 'steered';
    const { json } = await admin.post('smpp-systems', { systemId });
    const id = String(json['id']);
    const esme = await Esme.bound({ port: smppPort, systemId, password: String(json['password']) });
    const connections = async (): Promise<readonly unknown[]> =>
      (await admin.get(`smpp-systems/${id}`)).json['connections'] as readonly unknown[];
    await until('it is shown', SOON_MS, async () => (await connections()).length === 1);
    const [gateway] = dataOf(await admin.get('gateways'));
    expect(await connections()).toMatchObject([{ owner: gateway?.['id'], state: 'bound', tls: false }]);
    const rotated = await admin.post(`smpp-systems/${id}/rotate`);
    const password = String(rotated.json['password']);
    const old = await Esme.connect({ port: smppPort });
    const answer = await old.bind({ port: smppPort, systemId, password: String(json['password']) });
    expect(answer.command_status).toBe(WRONG_PASSWORD);
    const second = await Esme.bound({ port: smppPort, systemId, password });
    await until('both are up', SOON_MS, async () => (await connections()).length === 2);
    await admin.patch(`smpp-systems/${id}`, { enabled: false });
    await until('they are closed', SOON_MS, async () => (await connections()).length === 0);
    for (const each of [esme, old, second]) each.destroy();
  });
});
