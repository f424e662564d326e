import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminCalls, idOf } from '../support/admin-calls.js';
import { ControlPlaneHarness, PHONE } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';
import { WitnessCarrier } from '../support/witness-carrier.js';

// A link is drained for ten seconds after its row wants another one, and a peer that ignores the unbind has all of them.

const WITHIN_MS = 20_000;

let harness: ControlPlaneHarness;
let gateway: GatewayBeside;
let admin: AdminCalls;
/** The peer of the bind before the change. */
let former: WitnessCarrier;
let next: WitnessCarrier;
let nextPort: number;
let bindId: string;
let count = 0;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  gateway = await GatewayBeside.start(harness, { MO_SENDER_PER_SECOND: '1000000' });
  admin = new AdminCalls(harness);
});
afterAll(async () => {
  await gateway.stop();
  await harness.close();
});
beforeEach(() => {
  [former, next] = [new WitnessCarrier({ ignoresUnbind: true }), new WitnessCarrier()];
});
afterEach(async () => {
  await admin.delete(`binds/${bindId}`);
  await Promise.all([former.close(), next.close()]);
});

async function bindTo(trustedForMo: boolean): Promise<void> {
  nextPort = await next.listen();
  const made = await admin.post('binds', {
    ...{ name: `carrier ${(count += 1)}`, hosts: [{ host: '127.0.0.1', port: await former.listen() }] },
    ...{ systemId: 'us', password: 'secret08', trustedForMo },
  });
  bindId = idOf(made);
  await until('the bind is bound', WITHIN_MS, () => Promise.resolve(former.bound.length === 1));
}

const statusOf = async (id: string): Promise<unknown> => (await harness.call(`/v1/verify/${id}`)).json['status'];

/** A message with the right token of a new session, and its sender, over a carrier; resolves with the status of the session. */
async function forge(over: WitnessCarrier): Promise<{ readonly isStored: boolean; readonly status: unknown }> {
  const { json } = await harness.create();
  const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
  const isStored = await over.deliver(sms(text, { source_addr: PHONE.slice(1) }));
  return { isStored, status: await statusOf(String(json['id'])) };
}

/** From the unbind to the end of the link, as fast as the carrier can. */
async function forgeUntilClosed(): Promise<number> {
  await until('the link is unbound', WITHIN_MS, () => Promise.resolve(former.links[0]?.unboundMs != null));
  let forged = 0;
  while (former.bound.length > 0) {
    expect(await forge(former)).toEqual({ isStored: false, status: 'pending' });
    forged += 1;
  }
  return forged;
}

describe('A6 the former peer of a bind', () => {
  it('A6 approves nothing by the trust that an owner gives to another host', async () => {
    await bindTo(false);
    expect(await forge(former)).toEqual({ isStored: true, status: 'pending' });
    const change = { hosts: [{ host: '127.0.0.1', port: nextPort }], password: 'another1', trustedForMo: true };
    expect((await admin.patch(`binds/${bindId}`, change)).status).toBe(200);
    expect(await forgeUntilClosed()).toBeGreaterThan(0);
    await until('the bind is bound at its host', WITHIN_MS, () => Promise.resolve(next.bound.length === 1));
    expect(await forge(next)).toEqual({ isStored: true, status: 'approved' });
  });

  it('A6 approves nothing by the trust that is given after the change of the host', async () => {
    await bindTo(false);
    await admin.patch(`binds/${bindId}`, { hosts: [{ host: '127.0.0.1', port: nextPort }], password: 'another1' });
    await until('the link is unbound', WITHIN_MS, () => Promise.resolve(former.links[0]?.unboundMs != null));
    expect((await admin.patch(`binds/${bindId}`, { trustedForMo: true })).status).toBe(200);
    expect(await forgeUntilClosed()).toBeGreaterThan(0);
  });

  it('A6 whose peer stays the same is believed while it is drained', async () => {
    await bindTo(true);
    expect((await admin.post(`binds/${bindId}/reconnect`)).status).toBeLessThan(300);
    await until('the link is unbound', WITHIN_MS, () => Promise.resolve(former.links[0]?.unboundMs != null));
    expect(await forge(former)).toEqual({ isStored: true, status: 'approved' });
  });

  it.each([
    ['disabled', () => admin.post(`binds/${bindId}/disable`)],
    ['deleted', () => admin.delete(`binds/${bindId}`)],
    [
      'given another host',
      () => admin.patch(`binds/${bindId}`, { hosts: [{ host: '127.0.0.1', port: nextPort }], password: 'another1' }),
    ],
  ])('A6 approves nothing once a trusted bind is %s', async (_, change) => {
    await bindTo(true);
    expect(await forge(former)).toEqual({ isStored: true, status: 'approved' });
    expect((await change()).status).toBeLessThan(300);
    expect(await forgeUntilClosed()).toBeGreaterThan(0);
  });
});
