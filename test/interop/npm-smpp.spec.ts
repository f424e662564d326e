import smpp from 'smpp';
import smppRc from 'smpp-rc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Carrier } from '../support/carrier.js';
import { Esme, type BindKind } from '../support/esme.js';
import { tsharkIsMissing } from '../support/foreign-stack.js';
import { GatewayHarness, INBOUND_NUMBER, partOfSms, PASSWORD, sms } from '../support/gateway-harness.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { WireTap } from '../support/wire-tap.js';

const OK = 0;
const STACKS = [
  ['0.5.1', smpp],
  ['0.6.0-rc.4', smppRc],
] as const;

describe.each(STACKS)('npm smpp %s that connects in', (_version, stack) => {
  let gateway: GatewayHarness;
  let tap: WireTap;
  const esmes: Esme[] = [];

  beforeAll(async () => {
    gateway = await GatewayHarness.open();
    await gateway.system({ systemId: 'npm', maxConnections: 20 });
    tap = await WireTap.open('server', gateway.ports.smpp);
  });
  afterAll(async () => {
    for (const esme of esmes) esme.destroy();
    await tap.close();
    await gateway.close();
  });

  async function bound(bind: BindKind = 'bind_transceiver', interfaceVersion = 0x34): Promise<Esme> {
    const esme = await Esme.bound({
      port: tap.port,
      systemId: 'npm',
      password: PASSWORD,
      bind,
      stack,
      interfaceVersion,
    });
    esmes.push(esme);
    return esme;
  }

  it.each(['bind_transceiver', 'bind_transmitter', 'bind_receiver'] as const)(
    'binds by %s, asks, and parts',
    async (bind) => {
      const esme = await bound(bind);
      expect((await esme.enquireLink()).command_status).toBe(OK);
      const unbound = new Promise<number>((resolve) => {
        esme.session.unbind({}, ({ command_status }) => resolve(command_status));
      });
      expect(await unbound).toBe(OK);
      await esme.closed;
    },
  );

  it.each([0x33, 0x34, 0x50])('binds as interface version %i', async (interfaceVersion) => {
    const esme = await bound('bind_transceiver', interfaceVersion);
    const { command_status, message_id } = await esme.send('submit_sm', sms('hello'));
    expect(command_status).toBe(OK);
    expect((message_id ?? '').length).toBe(interfaceVersion < 0x34 ? 8 : 30);
  });

  it('approves sessions by every command that carries a message', async () => {
    const esme = await bound();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => gateway.create()));
    const [submitted, delivered, payload, data] = sessions.map((session) => Buffer.from(gateway.textOf(session)));
    const answers = [
      await esme.send('submit_sm', sms(submitted ?? '')),
      await esme.send('deliver_sm', sms(delivered ?? '')),
      await esme.send('submit_sm', { ...sms(''), message_payload: payload ?? '' }),
      await esme.send('data_sm', { ...sms(''), message_payload: data ?? '' }),
    ];
    expect(answers.map(({ command_status }) => command_status)).toEqual([OK, OK, OK, OK]);
    for (const session of sessions) expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('approves with what its own text encoding makes of a message', async () => {
    const esme = await bound();
    const [gsm, ucs2, parts] = [await gateway.create(), await gateway.create(), await gateway.create()];
    await esme.send('submit_sm', { ...sms(''), short_message: gateway.textOf(gsm) });
    const wide = { data_coding: 8, short_message: `“${gateway.textOf(ucs2).slice(0, 50)}`.split('\n')[0] ?? '' };
    await esme.send('submit_sm', { ...sms(''), ...wide });
    const text = `${'word '.repeat(20)}${gateway.textOf(parts)}`;
    await esme.send('submit_sm', partOfSms(text.slice(110), 7, 2, 2));
    await esme.send('submit_sm', partOfSms(text.slice(0, 110), 7, 2, 1));
    for (const session of [gsm, ucs2, parts]) expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('sends a thousand without waiting, each answered in its own response once it is stored', async () => {
    const esme = await bound('bind_transmitter');
    const before = (await gateway.messages()).length;
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => esme.send('submit_sm', sms('hello'))));
    expect(new Set(answers.map(({ message_id }) => message_id)).size).toBe(1_000);
    expect((await gateway.messages()).length - before).toBe(1_000);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect(sentByUs.get('0x80000004')).toBeGreaterThanOrEqual(1_009);
    expect([...sentByUs.keys()]).toEqual(expect.arrayContaining(['0x80000005', '0x80000103', '0x80000006']));
  });
});

describe.each(STACKS)('npm smpp %s that we bind to', (_version, stack) => {
  const carrier = new Carrier('npm', stack);
  let tap: WireTap;
  let out: OutboundHarness;

  beforeAll(async () => {
    const port = await carrier.listen();
    tap = await WireTap.open('client', port);
    const tapped = tap.carrier(carrier.name, () => carrier.isBound);
    out = await OutboundHarness.open([{ carrier: tapped, bind: { responseTimeoutSeconds: 10 } }]);
  });
  afterAll(async () => {
    await out.close();
    await tap.close();
    await carrier.close();
  });

  it('takes codes, and their receipts find them, by their text and by their TLVs', async () => {
    const ids = await Promise.all([1, 2].map(async () => out.queueCode(await out.gateway.create())));
    const [byWords, byTlvs] = await Promise.all(ids.map((id) => out.waitForState(id, 'submitted')));
    expect(carrier.submits).toHaveLength(2);
    expect(carrier.submits[0]).toMatchObject({
      source_addr: INBOUND_NUMBER.slice(1),
      destination_addr: PHONE.slice(1),
      registered_delivery: 1,
    });
    expect(JSON.stringify(carrier.submits[0]?.short_message)).toContain(CODE_TEXT);
    expect(await carrier.sendReceipt(byWords?.smscMessageId ?? '', 'DELIVRD')).toBe(OK);
    const tlvs = { receipted_message_id: byTlvs?.smscMessageId ?? '', message_state: 2 };
    expect(await carrier.deliver({ ...sms(''), esm_class: 4, ...tlvs })).toBe(OK);
    for (const id of ids) await out.waitForState(id, 'delivered');
  });

  it('hands over MOs, which approve', async () => {
    const sessions = await Promise.all(Array.from({ length: 50 }, () => out.gateway.create()));
    const statuses = sessions.map((session) => carrier.deliver(sms(out.gateway.textOf(session))));
    expect(await Promise.all(statuses)).toEqual(sessions.map(() => OK));
    for (const session of sessions) expect(await out.gateway.statusOf(session)).toBe('approved');
  });

  it('falls over, and is bound to again', async () => {
    carrier.drop();
    await until('it is bound again', 15_000, () => carrier.isBound);
    await out.waitForState(await out.queueCode(await out.gateway.create()), 'submitted');
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect(sentByUs.get('0x80000005')).toBeGreaterThanOrEqual(52);
    expect([...sentByUs.keys()]).toEqual(expect.arrayContaining(['0x00000009', '0x00000004']));
  });
});
