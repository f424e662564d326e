import { once } from 'node:events';
import { connect } from 'node:net';
import { cstring, enquireLink, ID, pdu, RESP } from '../../libs/smpp/src/codec/octets.fixture.js';
import { RawPeer } from '../../libs/smpp/src/link/raw-peer.fixture.js';
import { bindStatus } from '@countersign/carriers/status';
import type { Bind, NewBind } from '@countersign/carriers/config';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type GatewayHarness, LOOPBACK, PASSWORD, sms } from '../support/gateway-harness.js';
import { Carrier, receiptOf } from '../support/carrier.js';
import { OutboundHarness } from '../support/outbound-harness.js';
import { OutbindSmsc, type OutbindCall } from '../support/outbind-smsc.js';
import { SiblingGateway } from '../support/sibling-gateway.js';
import { certificate, openTlsGateway } from '../support/tls-gateway.js';
import { until } from '../support/until.js';

// Carriers that connect to the gateway, send outbind, and are bound to over the same connection (SMPP 3.4, 4.1.7).

const OK = 0;
const INVALID_BIND_STATUS = 0x04;
const BIND_FAILED = 0x0d;
const WITHIN_MS = 30_000;
/** Limit after a crash of the owner (contract, Admin). */
const TAKEN_OVER_WITHIN_MS = 20_000;
const NEVER_DIALED = [{ host: '127.0.0.1', port: 9 }];

let gateway: GatewayHarness;
/** PEM of the certificate of its TLS port. */
let ca: string;
const smscs: OutbindSmsc[] = [];
const peers: RawPeer[] = [];
let made = 0;

beforeAll(async () => {
  const server = await certificate('gateway');
  ca = server.cert;
  gateway = await openTlsGateway(server);
});
afterEach(async () => {
  for (const each of [...smscs.splice(0), ...peers.splice(0)]) each.destroy();
  await query('UPDATE binds SET enabled = false');
});
afterAll(() => gateway.close());

const query = <Row extends object>(statement: string, values: readonly unknown[] = []): Promise<Row[]> =>
  gateway.harness.database.query<Row>(statement, values);

interface Slot {
  readonly slot: number;
  readonly owner: string | null;
  readonly epoch: string;
  readonly state: string | null;
  readonly lastError: string | null;
  readonly host: string | null;
}
const READ_SLOTS = `
  SELECT slot, owner, epoch::text, status->>'state' AS state, status->>'lastError' AS "lastError", status->>'host' AS host
  FROM bind_connections WHERE bind_id = $1 ORDER BY slot`;
const slotsOf = ({ id }: Bind): Promise<Slot[]> => query(READ_SLOTS, [id]);
const ownedOf = async (bind: Bind): Promise<boolean[]> => (await slotsOf(bind)).map(({ owner }) => owner !== null);
const isFree = (bind: Bind): Promise<void> =>
  until('the connections are free', WITHIN_MS, async () => !(await ownedOf(bind)).includes(true));
const refusals = (reason: string): Promise<number> =>
  gateway.metric(`countersign_smpp_refused_binds_total{refusal="outbind_${reason}"`);

/** The outbind that a bind waits for. */
const systemIdOf = ({ outbind }: Bind): string => outbind?.systemId ?? '';

/** Creates a bind that waits for an outbind, and waits until the gateway knows it. */
async function waitingBind(changes: Partial<NewBind> = {}): Promise<Bind> {
  made += 1;
  const bind = await gateway.bind({
    name: `out ${made}`,
    hosts: NEVER_DIALED,
    outbind: { systemId: `smsc ${made}`, allowedCidrs: LOOPBACK },
    outbindPassword: 'come',
    ...changes,
  });
  await isKnown(bind);
  return bind;
}

/** The gauge is set with the rows of the binds. */
const isKnown = ({ name, enabled }: Bind): Promise<void> =>
  until('the gateway knows the bind', WITHIN_MS, async () => {
    return !enabled || (await gateway.metric(`countersign_smpp_connections_wanted{bind="${name}"`)) > 0;
  });

async function outbind(bind: Bind, changes: Partial<OutbindCall> = {}): Promise<OutbindSmsc> {
  const smsc = await OutbindSmsc.outbind({
    port: gateway.ports.smpp,
    systemId: systemIdOf(bind),
    password: 'come',
    ...changes,
  });
  smscs.push(smsc);
  return smsc;
}

/** Sends outbind again when its connection was closed, as carriers do: a gateway reads the binds every few seconds. */
async function boundSmsc(bind: Bind, changes: Partial<OutbindCall> = {}): Promise<OutbindSmsc> {
  let smsc = await outbind(bind, changes);
  await until('the connection is bound', WITHIN_MS, async () => {
    if (smsc.isClosed) smsc = await outbind(bind, changes);
    return smsc.isBound;
  });
  return smsc;
}

const rawOutbind = (sequence: number, systemId: string, password = 'come'): Buffer =>
  pdu(ID.outbind, sequence, [cstring(systemId), cstring(password)]);

async function rawPeer(): Promise<RawPeer> {
  const peer = await RawPeer.connect(gateway.ports.smpp);
  peers.push(peer);
  return peer;
}

describe('a carrier that sends outbind', () => {
  it('is bound to with the credentials and the type of the bind, and again after the end, under a new lease', async () => {
    const bind = await waitingBind({ systemId: 'us', password: PASSWORD, bindType: 'receiver' });
    const first = await boundSmsc(bind);
    expect(first.binds).toMatchObject([{ command: 'bind_receiver', system_id: 'us', password: PASSWORD }]);
    await until('the row shows the state', WITHIN_MS, async () => (await slotsOf(bind))[0]?.state === 'bound');
    expect((await slotsOf(bind))[0]?.host).toMatch(/^127\.0\.0\.1:\d+$/);
    first.destroy();
    await isFree(bind);
    expect((await slotsOf(bind))[0]).toMatchObject({
      epoch: '1',
      state: 'unbound',
      lastError: expect.any(String) as string,
    });
    await boundSmsc(bind);
    expect((await slotsOf(bind))[0]?.epoch).toBe('2');
  });

  it('is not connected to while the bind waits, and its status says so', async () => {
    const bind = await waitingBind({ connections: 2 });
    const released = (await slotsOf(bind)).map(({ slot, owner }) => {
      return { slot, owner, held: false, heldUntil: null, status: null };
    });
    const status = bindStatus(bind, released);
    expect(status.state).toBe('unbound');
    const waiting = { state: 'unbound', host: null, owner: null, lastError: 'waiting for an outbind of the carrier' };
    expect(status.connections).toMatchObject([waiting, waiting]);
    await boundSmsc(bind);
    // Another bind is known: the rows were read, and connections claimed, since.
    await waitingBind();
    expect(await ownedOf(bind)).toEqual([true, false]);
  });

  it('may open as many connections as the bind has; one more is closed', async () => {
    const bind = await waitingBind({ connections: 2 });
    const before = await refusals('no_free_connection');
    await Promise.all([boundSmsc(bind), boundSmsc(bind)]);
    const third = await outbind(bind);
    await third.closed;
    expect(third.binds).toEqual([]);
    expect(await refusals('no_free_connection')).toBe(before + 1);
    expect((await slotsOf(bind)).map(({ epoch }) => epoch)).toEqual(['1', '1']);
  });

  it('that refuses the bind is not bound; its next outbind is followed', async () => {
    const bind = await waitingBind();
    const refusing = await outbind(bind, { bindStatus: BIND_FAILED });
    await refusing.closed;
    await isFree(bind);
    expect((await slotsOf(bind))[0]?.lastError).toContain('ESME_RBINDFAIL');
    await boundSmsc(bind);
  });
});

describe('an outbind', () => {
  it.each([
    ['a wrong password', { password: 'wrong' }, 'wrong_password'],
    ['an unknown system_id', { systemId: 'nobody' }, 'unknown_system'],
  ] as const)(
    'with %s is closed after a second without a bind, counted, and logged without the password',
    async (_what, changes, refusal) => {
      const bind = await waitingBind();
      const before = await refusals(refusal);
      const startedMs = performance.now();
      const smsc = await outbind(bind, { ...changes, connection: { localAddress: '127.0.0.61' } });
      await smsc.closed;
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_000);
      expect(smsc.binds).toEqual([]);
      expect(await refusals(refusal)).toBe(before + 1);
      const lines = gateway.log
        .filter((line) => line.includes('outbind refused'))
        .map((line) => JSON.parse(line) as object);
      expect(lines.at(-1)).toMatchObject({ refusal, address: '127.0.0.61' });
      expect(JSON.stringify(lines)).not.toContain('"wrong"');
      expect(await ownedOf(bind)).toEqual([false]);
    },
  );

  it('with a wrong password locks its address out, as a bind of a system does', async () => {
    const bind = await waitingBind();
    const before = await refusals('wrong_password');
    const shutOut = 'countersign_smpp_connections_rejected_total{reason="shut_out"';
    const rejected = await gateway.metric(shutOut);
    const connection = { localAddress: '127.0.0.66' };
    await Promise.all(Array.from({ length: 5 }, () => outbind(bind, { connection, password: 'wrong' })));
    await until('five are counted', WITHIN_MS, async () => (await refusals('wrong_password')) === before + 5);
    const right = await outbind(bind, { connection });
    await right.closed;
    expect([right.binds, await gateway.metric(shutOut)]).toEqual([[], rejected + 1]);
    const peer = `countersign_smpp_wrong_passwords_total{peer="${systemIdOf(bind)}"`;
    expect(await gateway.metric(peer)).toBe(5);
    await boundSmsc(bind);
  });

  it('from a network of another bind is closed, even with the right password', async () => {
    await waitingBind();
    const before = await refusals('address');
    const bind = await waitingBind({ outbind: { systemId: 'narrow', allowedCidrs: ['127.0.0.2/32'] } });
    const far = await outbind(bind);
    await far.closed;
    expect([far.binds, await refusals('address')]).toEqual([[], before + 1]);
    await boundSmsc(bind, { connection: { localAddress: '127.0.0.2' } });
  });

  it('of a peer in no network is not read', async () => {
    const rejected = 'countersign_smpp_connections_rejected_total{reason="network"';
    const before = await gateway.metric(rejected);
    const bind = await waitingBind({ outbind: { systemId: 'alone', allowedCidrs: ['127.0.0.2/32'] } });
    const far = await outbind(bind, { connection: { localAddress: '127.9.0.1' } });
    await far.closed;
    expect([far.binds, await gateway.metric(rejected)]).toEqual([[], before + 1]);
  });

  it('for a disabled bind, or without the TLS that its bind requires, is closed', async () => {
    const off = await waitingBind({ enabled: false });
    const secure = await waitingBind({ tls: { enabled: true } });
    for (const [bind, reason] of [
      [off, 'disabled'],
      [secure, 'tls_required'],
    ] as const) {
      const before = await refusals(reason);
      const smsc = await outbind(bind);
      await smsc.closed;
      expect([smsc.binds, await refusals(reason)]).toEqual([[], before + 1]);
    }
  });

  it('for a bind with TLS is followed on the TLS port', async () => {
    const bind = await waitingBind({ tls: { enabled: true } });
    await boundSmsc(bind, { port: gateway.ports.smppTls, connection: { tls: true, ca, rejectUnauthorized: true } });
  });

  it('that names two binds uses the one whose password it has', async () => {
    const outbindOfBoth = { systemId: 'both', allowedCidrs: LOOPBACK };
    await waitingBind({ systemId: 'first', outbind: outbindOfBoth, outbindPassword: 'one' });
    const second = await waitingBind({ systemId: 'second', outbind: outbindOfBoth, outbindPassword: 'two' });
    const smsc = await boundSmsc(second, { password: 'two' });
    expect(smsc.binds).toMatchObject([{ system_id: 'second' }]);
  });

  it('sent twice claims one connection; another on the bound connection is refused, and the connection stays', async () => {
    const bind = await waitingBind({ connections: 2 });
    const systemId = systemIdOf(bind);
    const peer = await rawPeer();
    peer.send(rawOutbind(1, systemId), rawOutbind(2, systemId));
    const sent = await peer.request(ID.bind_transceiver);
    expect(await peer.answer(2)).toMatchObject({ id: ID.generic_nack, status: INVALID_BIND_STATUS });
    peer.send(pdu(RESP + ID.bind_transceiver, sent.sequence, [cstring('smsc')]), rawOutbind(3, systemId));
    expect(await peer.answer(3)).toMatchObject({ id: ID.generic_nack, status: INVALID_BIND_STATUS });
    peer.send(enquireLink(4));
    expect((await peer.answer(4)).status).toBe(OK);
    expect(await ownedOf(bind)).toEqual([true, false]);
  });

  it('after the bind of a system is refused, and the system stays bound', async () => {
    const bind = await waitingBind();
    await gateway.system({ systemId: 'in' });
    const peer = await rawPeer();
    expect((await peer.bind('in', PASSWORD)).status).toBe(OK);
    peer.send(rawOutbind(2, systemIdOf(bind)), enquireLink(3));
    expect(await peer.answer(2)).toMatchObject({ id: ID.generic_nack, status: INVALID_BIND_STATUS });
    expect((await peer.answer(3)).status).toBe(OK);
    expect(await ownedOf(bind)).toEqual([false]);
    await query('DELETE FROM smpp_systems');
  });

  it('of a peer that closes its sending side leaves the connection of the bind free', async () => {
    const bind = await waitingBind();
    const peer = await rawPeer();
    peer.send(rawOutbind(1, systemIdOf(bind)));
    peer.end();
    await peer.closed();
    // The connection may end before it has claimed one of the bind.
    await until('one was claimed', WITHIN_MS, async () => (await slotsOf(bind))[0]?.epoch === '1');
    await isFree(bind);

    await boundSmsc(bind);
  });

  it('that is never completed ends with the time limit of an unbound connection', async () => {
    const bind = await waitingBind();
    const socket = connect({ host: '127.0.0.1', port: gateway.ports.smpp });
    await once(socket, 'connect');
    socket.write(rawOutbind(1, systemIdOf(bind)).subarray(0, 20));
    socket.resume();
    await once(socket, 'close');
    expect((await slotsOf(bind)).map(({ epoch }) => epoch)).toEqual(['0']);
  }, 20_000);
});

describe('a connection that begins with outbind', () => {
  it.each([
    'enabled = false',
    'generation = generation + 1',
    "outbind = jsonb_set(outbind, '{systemId}', '\"other\"')",
  ])('is closed in order after a change of the bind: %s', async (change) => {
    const bind = await waitingBind();
    const smsc = await boundSmsc(bind);
    await query(`UPDATE binds SET ${change} WHERE id = $1`, [bind.id]);
    await smsc.closed;
    expect(smsc.hasUnbound).toBe(true);
    await isFree(bind);
  });

  it('gives way to connections to the hosts, and they to it', async () => {
    const carrier = new Carrier('hosts');
    const bind = await waitingBind({ hosts: [{ host: '127.0.0.1', port: await carrier.listen() }] });
    const smsc = await boundSmsc(bind);
    const { outbind: waiting, outbindPasswordSealed: sealed } = bind;
    await query('UPDATE binds SET outbind = NULL, outbind_password_sealed = NULL WHERE id = $1', [bind.id]);
    await smsc.closed;
    await until('it is bound to the host', WITHIN_MS, () => carrier.isBound);
    const again = [bind.id, JSON.stringify(waiting), sealed];
    await query('UPDATE binds SET outbind = $2, outbind_password_sealed = $3 WHERE id = $1', again);
    await until('it is not bound to the host', WITHIN_MS, () => !carrier.isBound);
    await isFree(bind);
    await boundSmsc(bind);
    expect(carrier.links).toBe(0);
    await carrier.close();
  });

  it('is taken once, whichever gateway is asked; another one takes it after its end', async () => {
    const bind = await waitingBind();
    const sibling = await SiblingGateway.start(gateway);
    const first = await boundSmsc(bind);
    const refused = await outbind(bind, { port: sibling.smppPort });
    await refused.closed;
    expect(refused.binds).toEqual([]);
    first.destroy();
    await isFree(bind);
    await boundSmsc(bind, { port: sibling.smppPort });
    expect((await slotsOf(bind))[0]?.epoch).toBe('2');
    await sibling.close();
  });

  it('of a gateway that has lost the database ends before another gateway binds', async () => {
    const bind = await waitingBind();
    const sibling = await SiblingGateway.start(gateway);
    const first = await boundSmsc(bind);
    await gateway.line.cut();
    let second: OutbindSmsc | null = null;
    await until('the other gateway is bound', TAKEN_OVER_WITHIN_MS, async () => {
      if (second === null || second.isClosed) second = await outbind(bind, { port: sibling.smppPort });
      expect(first.isBound && second.isBound).toBe(false);
      return second.isBound;
    });
    expect(first.isClosed).toBe(true);
    expect((await slotsOf(bind))[0]?.epoch).toBe('2');
    await gateway.line.mend();
    await sibling.close();
  }, 60_000);
});

describe('codes over a connection that begins with outbind', () => {
  let harness: OutboundHarness;

  beforeAll(async () => {
    harness = await OutboundHarness.open([]);
    const { carriers, harness: stores } = harness.gateway;
    const bind = await harness.gateway.bind({
      name: 'codes',
      hosts: NEVER_DIALED,
      outbind: { systemId: 'smsc', allowedCidrs: LOOPBACK },
      outbindPassword: 'come',
    });
    await carriers.createRoute(stores.database, { prefix: '+', bindId: bind.id });
    // Restarted, so that no route cached during the setup is used.
    await harness.gateway.stop();
    await harness.gateway.start();
  });
  afterAll(() => harness.close());

  it('are sent, and their receipts and MOs come back', async () => {
    let smsc = await OutbindSmsc.outbind({ port: harness.gateway.ports.smpp, password: 'come' });
    await until('it is bound', WITHIN_MS, async () => {
      // The gateway reads the rows of binds after it has opened its ports.
      if (smsc.isClosed) smsc = await OutbindSmsc.outbind({ port: harness.gateway.ports.smpp, password: 'come' });
      return smsc.isBound;
    });
    const session = await harness.gateway.create();
    const code = await harness.queueCode(session);
    await harness.waitForState(code, 'submitted');
    expect(smsc.submits).toHaveLength(1);
    expect(await smsc.deliver(receiptOf('out-1', 'DELIVRD'))).toBe(OK);
    await harness.waitForState(code, 'delivered');
    expect(await smsc.deliver(sms(harness.gateway.textOf(session)))).toBe(OK);
    expect(await harness.gateway.statusOf(session)).toBe('approved');
    smsc.destroy();
  });

  it('that are under way when the gateway stops are answered before it unbinds, and sent once', async () => {
    let answer = (): void => undefined;
    const answersAfter = new Promise<void>((resolve) => (answer = resolve));
    const call = { port: harness.gateway.ports.smpp, password: 'come', answersAfter };
    let smsc = await OutbindSmsc.outbind(call);
    await until('it is bound', WITHIN_MS, async () => {
      if (smsc.isClosed) smsc = await OutbindSmsc.outbind(call);
      return smsc.isBound;
    });
    const code = await harness.queueCode(await harness.gateway.create());
    await until('the code arrived', WITHIN_MS, () => smsc.submits.length === 1);
    const before = harness.gateway.log.length;
    const stopped = harness.gateway.stop();
    const isUnbinding = (): boolean =>
      harness.gateway.log.slice(before).some((line) => line.includes('stop reconnecting'));
    await until('the gateway finishes its windows', WITHIN_MS, isUnbinding);
    // A round trip, in which the gateway would have closed the connection.
    expect(await smsc.deliver(sms('Thank you'))).toBe(OK);
    answer();
    await stopped;
    expect([smsc.hasUnbound, smsc.submits.length]).toEqual([true, 1]);
    await harness.waitForState(code, 'submitted');
    await harness.gateway.start();
  });
});
