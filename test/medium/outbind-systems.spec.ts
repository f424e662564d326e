import type { NewSystem, SmppSystem } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import smpp from 'smpp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../config/stack/postgres.mjs';
import { receiptOf } from '../support/carrier.js';
import { sms } from '../support/gateway-harness.js';
import { OutbindEsme } from '../support/outbind-esme.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { until } from '../support/until.js';

// Systems to which a gateway connects when a code waits for them: it sends outbind, and they bind (SMPP 3.4, 4.1.7).

const OK = 0;
const BIND_FAILED = 0x0d;
const WRONG_PASSWORD = 0x0e;
const WITHIN_MS = 20_000;
/** One number for each system. */
const phoneOf = (made: number): string => `+44740012${String(made).padStart(4, '0')}`;

let harness: OutboundHarness;
let made = 0;
const esmes: OutbindEsme[] = [];

beforeAll(async () => {
  harness = await OutboundHarness.open([]);
}, 60_000);
afterEach(async () => {
  await query('DELETE FROM routes');
  await query('UPDATE smpp_systems SET enabled = false');
  await Promise.all(esmes.splice(0).map((esme) => esme.close()));
});
afterAll(() => harness.close());

const query = <Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> =>
  harness.gateway.harness.database.query<Row>(statement, values);
const logged = (text: string): object[] =>
  harness.gateway.log.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as object);

interface Called {
  readonly system: SmppSystem;
  readonly esme: OutbindEsme;
  readonly phone: string;
  readonly port: number;
}

/** A system with a route that no gateway has connected. */
async function called(changes: Partial<NewSystem> = {}, isListening = true): Promise<Called> {
  made += 1;
  const systemId = `called ${made}`;
  const esme = new OutbindEsme(systemId);
  const port = isListening ? await esme.listen() : await freePort();
  if (isListening) esmes.push(esme);
  const system = await harness.gateway.system({
    systemId,
    carrier: systemId,
    outbind: { host: '127.0.0.1', port, tls: { enabled: false }, systemId: 'us' },
    outbindPassword: 'come',
    ...changes,
  });
  const phone = phoneOf(made);
  await harness.gateway.carriers.createRoute(harness.gateway.harness.database, { prefix: phone, systemId: system.id });
  return { system, esme, phone, port };
}

async function queueFor({ phone }: Called): Promise<Uuid> {
  return harness.queueCode(await harness.gateway.create({ ttlSeconds: 300, phone }));
}

describe('a system with an outbind', () => {
  it('is called when a code waits for it: it binds, gets the code, and its receipt and MO come back', async () => {
    // Its own networks are those of connections that it opens.
    const one = await called({ allowedCidrs: ['192.0.2.0/24'], trustedForMo: true });
    const session = await harness.gateway.create({ ttlSeconds: 300, phone: one.phone });
    const code = await harness.queueCode(session);
    expect(await harness.waitForState(code, 'submitted')).toMatchObject({ smscMessageId: 'called-0' });
    expect(one.esme.outbinds).toMatchObject([{ system_id: 'us', password: 'come' }]);
    expect(await one.esme.send(receiptOf('called-0', 'DELIVRD'))).toBe(OK);
    await harness.waitForState(code, 'delivered');
    const text = harness.gateway.textOf(session);
    expect(await one.esme.send(sms(text, { source_addr: one.phone.slice(1) }))).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
    await harness.waitForState(await queueFor(one), 'submitted');
    expect([one.esme.outbinds.length, one.esme.codes.length]).toEqual([1, 2]);
    const secrets = harness.gateway.log.filter((line) => line.includes('"come"'));
    expect(secrets).toEqual([]);
  });

  it('may bind as a receiver, and is called again after the end of its connection when a code waits', async () => {
    const one = await called();
    one.esme.bind = { systemId: one.system.systemId, kind: 'bind_receiver' };
    await harness.waitForState(await queueFor(one), 'submitted');
    one.esme.connections[0]?.session.destroy();
    await harness.waitForState(await queueFor(one), 'submitted');
    expect(one.esme.outbinds).toHaveLength(2);
  });

  it('is called with backoff until it is reachable', async () => {
    const one = await called({}, false);
    const code = await queueFor(one);
    const isUnreachable = { systemId: one.system.systemId, host: '127.0.0.1', port: one.port };
    await until('two calls have failed', WITHIN_MS, () => {
      const calls = logged('outbind: system could not be called');
      return calls.filter((call) => 'systemId' in call && call.systemId === one.system.systemId).length > 1;
    });
    expect(logged('outbind: system could not be called').at(-1)).toMatchObject(isUnreachable);
    await one.esme.listen(one.port);
    esmes.push(one.esme);
    await harness.waitForState(code, 'submitted');
  });

  it.each([
    ['a wrong password', { password: 'wrong' }, WRONG_PASSWORD, 'wrong_password'],
    ['a bind type that it may not use', { kind: 'bind_transmitter' }, BIND_FAILED, 'bind_type'],
  ] as const)('that binds with %s is refused as at the listener', async (_what, bind, status, refusal) => {
    const one = await called({ bindTypes: ['transceiver'] });
    one.esme.bind = { systemId: one.system.systemId, ...bind };
    const code = await queueFor(one);
    await until('the bind is refused', WITHIN_MS, () => one.esme.connections[0]?.status === status);
    await until('the end is logged', WITHIN_MS, () => one.esme.connections[0]?.isClosed === true);
    expect(logged('listener: bind refused').at(-1)).toMatchObject({ systemId: one.system.systemId, refusal });
    expect((await harness.code(code)).state).toBe('queued');
    expect(one.esme.codes).toEqual([]);
  });

  it('is the only one that may bind over its connection', async () => {
    await harness.gateway.system({ systemId: 'another', allowedCidrs: [], trustedForMo: false });
    const one = await called();
    one.esme.bind = { systemId: 'another' };
    await queueFor(one);
    await until('the bind is refused', WITHIN_MS, () => one.esme.connections[0]?.status === BIND_FAILED);
    expect(logged('listener: bind refused').at(-1)).toMatchObject({ systemId: 'another', refusal: 'address' });
  });

  it('that requires TLS, but is called without it, is refused', async () => {
    const one = await called({ tlsRequired: true });
    await queueFor(one);
    await until('the bind is refused', WITHIN_MS, () => one.esme.connections[0]?.status === BIND_FAILED);
    expect(logged('listener: bind refused').at(-1)).toMatchObject({ refusal: 'tls_required' });
  });

  it('that sends outbind itself instead of a bind is disconnected', async () => {
    const one = await called();
    one.esme.bind = 'mute';
    await queueFor(one);
    await until('it is called', WITHIN_MS, () => one.esme.outbinds.length > 0);
    one.esme.connections[0]?.session.send(new smpp.PDU('outbind', { system_id: 'us', password: 'come' }));
    await until('it is disconnected', WITHIN_MS, () => one.esme.connections[0]?.isClosed === true);
  });

  it.each([
    ['a change of its outbind', `outbind = jsonb_set(outbind, '{port}', '9')`],
    ['the end of its outbind', 'outbind = NULL, outbind_password_sealed = NULL'],
    ['being disabled', 'enabled = false'],
  ])('is disconnected after %s', async (_what, change) => {
    const one = await called();
    await harness.waitForState(await queueFor(one), 'submitted');
    await query(`UPDATE smpp_systems SET ${change} WHERE id = $1`, [one.system.id]);
    await until('it is disconnected', WITHIN_MS, () => one.esme.bound.length === 0);
  });

  it('is not called without a code, nor while it is connected', async () => {
    const idle = await called();
    const one = await called();
    const esme = await harness.gateway.esme(one.system.systemId);
    esme.session.on('deliver_sm', (pdu) => esme.session.send(pdu.response({ message_id: 'own' })));
    expect(await harness.waitForState(await queueFor(one), 'submitted')).toMatchObject({ smscMessageId: 'own' });
    expect([idle.esme.connections, one.esme.connections]).toEqual([[], []]);
    esme.destroy();
  });

  it('is called by one of two gateways', async () => {
    const sibling = await SiblingGateway.start(harness.gateway);
    const one = await called();
    const codes = await Promise.all(Array.from({ length: 5 }, () => queueFor(one)));
    for (const code of codes) await harness.waitForState(code, 'submitted');
    expect(one.esme.connections).toHaveLength(1);
    expect(one.esme.codes).toHaveLength(5);
    await sibling.close();
  }, 60_000);
});
