import type { NewSystem } from '@countersign/carriers/config';
import type { Uuid } from '@countersign/ids';
import type { PDU, PduValues } from 'smpp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Carrier, receiptOf } from '../support/carrier.js';
import type { BindKind, Esme } from '../support/esme.js';
import { PASSWORD } from '../support/gateway-harness.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const THROTTLED = 0x58;
const INVALID_DESTINATION = 0x0b;
/** A number routed to each system; codes not accepted by `first` use `spare`. */
const PHONES = { first: '+447400123456', second: '+33612345678', slow: '+4915112345678' } as const;
type Name = keyof typeof PHONES;

const spare = new Carrier('spare');
let harness: OutboundHarness;
const ids = new Map<Name, Uuid>();
let peers: Peer[] = [];

/** A connected aggregator with scripted responses to codes. */
class Peer {
  /** Every received deliver_sm, in order. */
  readonly received: PDU[] = [];
  /** Responses to the next codes, `mute` for none; after them every code is accepted, with an id. */
  readonly script: (PduValues | 'mute')[] = [];

  constructor(
    readonly esme: Esme,
    private readonly name: string,
  ) {
    esme.session.on('deliver_sm', (pdu) => this.answer(pdu));
  }

  idOf(code: number): string {
    return `${this.name}-${code}`;
  }

  private answer(pdu: PDU): void {
    const response = this.script.shift() ?? {};
    const id = this.idOf(this.received.push(pdu) - 1);
    if (response !== 'mute') this.esme.session.send(pdu.response({ message_id: id, ...response }));
  }
}

beforeAll(async () => {
  harness = await OutboundHarness.open([
    { carrier: spare, bind: { submitPerSecond: 1_000 }, route: { prefix: '+44', priority: 9 } },
  ]);
  for (const name of ['first', 'second', 'slow'] as const) await addSystem(name);
  // Restarted, so that no route cached during the setup is used.
  await harness.gateway.stop();
  await harness.gateway.start();
  await until('the carrier is bound', 20_000, () => spare.isBound);
}, 60_000);
afterAll(async () => {
  await harness.close();
  await spare.close();
});
afterEach(async () => {
  for (const { esme } of peers) esme.destroy();
  peers = [];
  spare.submits.length = 0;
  await until('nobody is connected', 10_000, async () => {
    const [row] = await harness.gateway.harness.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM system_connections',
    );
    return row?.count === 0;
  });
});

async function addSystem(name: Name): Promise<void> {
  const settings: Readonly<Record<Name, Partial<NewSystem>>> = {
    first: { sendWindow: 3, deliverPerSecond: 1_000 },
    second: { messageIdBase: 'hex-to-dec' },
    slow: { deliverPerSecond: 10 },
  };
  const system = await harness.gateway.system({
    systemId: name,
    carrier: name,
    trustedForMo: false,
    responseTimeoutSeconds: 60,
    ...settings[name],
  });
  ids.set(name, system.id);
  const { carriers } = harness.gateway;
  await carriers.createRoute(harness.gateway.harness.database, {
    prefix: PHONES[name].slice(0, 3),
    systemId: system.id,
  });
}

async function connect(name: Name, bind: BindKind = 'bind_transceiver'): Promise<Peer> {
  const peer = new Peer(await harness.gateway.esme(name, { bind, password: PASSWORD }), name);
  peers.push(peer);
  return peer;
}

async function queue(name: Name, text?: string): Promise<Uuid> {
  const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONES[name] });
  return harness.queueCode(session, text === undefined ? {} : { text });
}

const allAreSubmitted = (codes: readonly Uuid[]): Promise<void> =>
  until('all are submitted', 20_000, async () => {
    const states = await Promise.all(codes.map(async (id) => (await harness.code(id)).state));
    return states.every((state) => state === 'submitted');
  });

const octetsOf = (pdu: PDU | undefined): Buffer => {
  const value: unknown = pdu?.['short_message'];
  const message: unknown = typeof value === 'object' && value !== null && 'message' in value ? value.message : value;
  return Buffer.isBuffer(message) ? message : Buffer.from(String(message));
};

describe('a code with a route to a system', () => {
  it.each(['bind_transceiver', 'bind_receiver'] as const)(
    'is sent as deliver_sm over its connection of %s, with its id and link recorded',
    async (bind) => {
      const peer = await connect('first', bind);
      const id = await queue('first');
      expect(await harness.waitForState(id, 'submitted')).toMatchObject({
        carrier: 'first',
        attempts: 1,
        smscMessageId: peer.idOf(0),
        hasText: false,
      });
      const [pdu] = peer.received;
      expect(pdu).toMatchObject({
        esm_class: 0,
        data_coding: 0,
        registered_delivery: 1,
        source_addr: '14155550100',
        destination_addr: PHONES.first.slice(1),
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        schedule_delivery_time: '',
        validity_period: '',
      });
      expect(octetsOf(pdu).toString()).toBe(CODE_TEXT);
      expect(spare.submits).toHaveLength(0);
      const [row] = await harness.gateway.harness.database.query(
        'SELECT bind_id, system_id FROM outbound_messages WHERE id = $1',
        [id],
      );
      expect(row).toEqual({ bind_id: null, system_id: ids.get('first') });
    },
  );

  it('uses the next route while the system has no connection, or none that receives', async () => {
    expect(await harness.waitForState(await queue('first'), 'submitted')).toMatchObject({ carrier: 'spare' });
    await connect('first', 'bind_transmitter');
    expect(await harness.waitForState(await queue('first'), 'submitted')).toMatchObject({ carrier: 'spare' });
  });

  it('is sent in parts if its text needs them', async () => {
    const peer = await connect('second');
    const text = `${'код '.repeat(20)}123456`;
    await harness.waitForState(await queue('second', text), 'submitted');
    expect(peer.received.map(({ esm_class, data_coding }) => [esm_class, data_coding])).toEqual([
      [0x40, 8],
      [0x40, 8],
    ]);
    expect(peer.received.map(({ registered_delivery }) => registered_delivery)).toEqual([0, 1]);
  });

  it.each(['submit_sm', 'data_sm'] as const)('is delivered with a receipt as %s', async (command) => {
    const peer = await connect('first');
    const id = await queue('first');
    await harness.waitForState(id, 'submitted');
    const { short_message: text = '', ...fields } = receiptOf(peer.idOf(0), 'DELIVRD');
    const values = { ...fields, ...(command === 'submit_sm' ? { short_message: text } : { message_payload: text }) };
    expect((await peer.esme.send(command, values)).command_status).toBe(OK);
    await harness.waitForState(id, 'delivered');
    expect(await harness.deliveryStates(id)).toEqual(['submitted', 'delivered']);
  });

  it('is undelivered with a receipt in the number base of the system, also over another connection of it', async () => {
    const peer = await connect('second', 'bind_receiver');
    peer.script.push({ message_id: '00000A7F' });
    const id = await queue('second');
    await harness.waitForState(id, 'submitted');
    const sender = await connect('second', 'bind_transmitter');
    expect((await sender.esme.send('submit_sm', receiptOf('2687', 'UNDELIV', '027'))).command_status).toBe(OK);
    expect(await harness.waitForState(id, 'undelivered')).toMatchObject({ networkError: '027' });
  });

  it('stays submitted without an id in the response', async () => {
    const peer = await connect('first');
    peer.script.push({ message_id: '' });
    expect(await harness.waitForState(await queue('first'), 'submitted')).toMatchObject({ smscMessageId: null });
  });

  it('is retried on the next route after a throttle response, and refused by a final status', async () => {
    const peer = await connect('first');
    peer.script.push({ command_status: THROTTLED, message_id: '' });
    expect(await harness.waitForState(await queue('first'), 'submitted')).toMatchObject({
      attempts: 2,
      carrier: 'spare',
    });
    expect(await harness.gateway.metric('countersign_smpp_throttles_total{side="listener",direction="in"')).toBe(1);
    peer.script.push({ command_status: INVALID_DESTINATION, message_id: '' });
    expect(await harness.waitForState(await queue('first'), 'submitted')).toMatchObject({
      attempts: 2,
      carrier: 'spare',
    });
    expect(peer.received).toHaveLength(2);
  });

  it('is sent to the system again when it throttles and there is no other route', async () => {
    const peer = await connect('slow');
    peer.script.push({ command_status: THROTTLED, message_id: '' });
    const code = await harness.waitForState(await queue('slow'), 'submitted');
    expect([code.carrier, code.attempts, peer.received.length]).toEqual(['slow', 2, 2]);
  });

  it('has an unknown outcome when the connection ends before the response, and is sent once more', async () => {
    const peer = await connect('first');
    peer.script.push('mute');
    const id = await queue('first');
    await until('the code has arrived', 10_000, () => peer.received.length === 1);
    peer.esme.destroy();
    expect(await harness.waitForState(id, 'submitted')).toMatchObject({ carrier: 'spare', unknownFates: 1 });
  });
});

describe('the codes to a system', () => {
  it('never exceed its window on any connection, and are spread over its connections', async () => {
    const both = [await connect('first'), await connect('first', 'bind_receiver')];
    for (const { script } of both) script.push(...Array.from({ length: 100 }, () => 'mute' as const));
    const codes = await Promise.all(Array.from({ length: 20 }, () => queue('first')));
    await until('both windows are full', 10_000, () => both.every(({ received }) => received.length >= 3));
    expect(both.map(({ received }) => received.length)).toEqual([3, 3]);
    for (const { esme } of both) esme.destroy();
    await allAreSubmitted(codes);
  }, 40_000);

  it('keep its rate', async () => {
    const peer = await connect('slow');
    const session = await harness.gateway.create({ ttlSeconds: 300, phone: PHONES.slow });
    const startedMs = performance.now();
    await allAreSubmitted(await Promise.all(Array.from({ length: 25 }, () => harness.queueCode(session))));
    // 25 codes at 10 per second, the first at once.
    expect(performance.now() - startedMs).toBeGreaterThan(2_000);
    expect(peer.received).toHaveLength(25);
  }, 40_000);
});
