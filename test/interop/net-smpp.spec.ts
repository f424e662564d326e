import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineProcess, netSmppIsMissing, tsharkIsMissing } from '../support/foreign-stack.js';
import { GatewayHarness, INBOUND_NUMBER, PASSWORD } from '../support/gateway-harness.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { PerlSmsc } from '../support/perl-smsc.js';
import { PHONE } from '../support/session-harness.js';
import { until } from '../support/until.js';
import { WireTap } from '../support/wire-tap.js';

const WITHIN_MS = 15_000;
const SCRIPT = path.resolve('test/interop/net-smpp-esme.pl');
const FROM = PHONE.slice(1);
const TO = INBOUND_NUMBER.slice(1);

const hex = (text: string | Buffer): string => Buffer.from(text).toString('hex');
const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

describe.skipIf(netSmppIsMissing)('Net::SMPP that connects in', () => {
  let gateway: GatewayHarness;
  let tap: WireTap;
  const started: LineProcess[] = [];

  beforeAll(async () => {
    gateway = await GatewayHarness.open();
    await gateway.system({ systemId: 'perl' });
    tap = await WireTap.open('server', gateway.ports.smpp);
  });
  afterAll(async () => {
    await Promise.all(started.map((esme) => esme.stop()));
    await tap.close();
    await gateway.close();
  });

  function start(kind: 'transceiver' | 'transmitter' | 'receiver', password = PASSWORD): LineProcess {
    const esme = new LineProcess('perl', [SCRIPT, `${tap.port}`, 'perl', password, kind]);
    started.push(esme);
    return esme;
  }

  it.each(['transceiver', 'transmitter', 'receiver'] as const)('binds as a %s, asks, and parts', async (kind) => {
    const esme = start(kind);
    expect(await esme.next('bound')).toEqual(['bound', '0']);
    expect((await esme.ask('enquire', 'enquired'))[1]).toBe('0');
    expect((await esme.ask('unbind', 'unbound'))[1]).toBe('0');
  });

  it('is refused a wrong password', async () => {
    expect(await start('transceiver', 'wrong').next('bound')).toEqual(['bound', '14']);
  });

  it('approves sessions, whatever the alphabet and the command', async () => {
    const esme = start('transmitter');
    await esme.next('bound');
    const [plain, wide, payload] = [await gateway.create(), await gateway.create(), await gateway.create()];
    // data_coding 8 is UCS-2; as long as one SMS of it may be.
    const sent = [
      await esme.ask(`submit ${FROM} ${TO} ${hex(gateway.textOf(plain))}`, 'submitted'),
      await esme.ask(`submit ${FROM} ${TO} ${hex(ucs2(gateway.textOf(wide).slice(0, 60)))} 8`, 'submitted'),
      await esme.ask(`data ${FROM} ${TO} ${hex(`${gateway.textOf(payload)} ${'x'.repeat(400)}`)}`, 'submitted'),
    ];
    for (const [, status, id] of sent) {
      expect(status).toBe('0');
      expect(id).toMatch(/^msg_/);
    }
    for (const session of [plain, wide, payload]) expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('sends five hundred at once, each answered once it is stored', async () => {
    const esme = start('transceiver');
    await esme.next('bound');
    const before = (await gateway.messages()).length;
    expect(await esme.ask(`burst 500 ${FROM} ${TO} ${hex('hello')}`, 'burst')).toEqual(['burst', '500']);
    expect((await gateway.messages()).length - before).toBe(500);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect(sentByUs.get('0x80000004')).toBeGreaterThanOrEqual(502);
    expect([...sentByUs.keys()]).toEqual(
      expect.arrayContaining(['0x80000001', '0x80000002', '0x80000009', '0x80000006', '0x80000015', '0x80000103']),
    );
  });
});

describe.skipIf(netSmppIsMissing)('Net::SMPP that we bind to', () => {
  const smsc = new PerlSmsc();
  let tap: WireTap;
  let out: OutboundHarness;

  beforeAll(async () => {
    const port = await smsc.listen();
    tap = await WireTap.open('client', port);
    const carrier = tap.carrier(smsc.name, () => smsc.isBound);
    out = await OutboundHarness.open([{ carrier, bind: { enquireLinkSeconds: 1, responseTimeoutSeconds: 10 } }]);
  });
  afterAll(async () => {
    await out.close();
    await tap.close();
    await smsc.close();
  });

  it('takes a code, and its receipt finds it', async () => {
    const id = await out.queueCode(await out.gateway.create());
    const { smscMessageId } = await out.waitForState(id, 'submitted');
    const taken = smsc.submits.find((submit) => submit.id === smscMessageId);
    expect(taken).toMatchObject({ source: TO, destination: FROM, text: CODE_TEXT, registeredDelivery: 1 });
    const text = `id:${taken?.id ?? ''} sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:DELIVRD err:000 text:`;
    expect(await smsc.deliver(FROM, TO, text, 4)).toBe(0);
    await out.waitForState(id, 'delivered');
  });

  it('hands over MOs, which approve', async () => {
    const session = await out.gateway.create();
    expect(await smsc.deliver(FROM, TO, out.gateway.textOf(session))).toBe(0);
    expect(await out.gateway.statusOf(session)).toBe('approved');
  });

  it('is asked whether it is there, parts from us in order, and we come back', async () => {
    await until('it was asked', WITHIN_MS, () => smsc.lines.includes('enquired'));
    smsc.unbind();
    await until('the link is gone', WITHIN_MS, () => smsc.lines.includes('gone'));
    await until('it is bound again', WITHIN_MS, () => smsc.isBound);
    const id = await out.queueCode(await out.gateway.create());
    await out.waitForState(id, 'submitted');
  });

  it('is unbound when the gateway stops under load, and has every code once when it is back', async () => {
    const parted = (): number => smsc.lines.filter((line) => line === 'unbound').length;
    const before = parted();
    const texts = Array.from({ length: 40 }, (_, n) => `${100_000 + n} is your code.`);
    const ids = await Promise.all(texts.map(async (text) => out.queueCode(await out.gateway.create(), { text })));
    const taken = (): string[] => smsc.submits.map(({ text }) => text).filter((text) => texts.includes(text));
    await until('some were taken', WITHIN_MS, () => taken().length > 0);
    await out.gateway.stop();
    await until('it was unbound', WITHIN_MS, () => parted() > before);
    await out.gateway.start();
    for (const id of ids) await out.waitForState(id, 'submitted');
    expect(taken().toSorted()).toEqual(texts);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', () => {
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect([...sentByUs.keys()]).toEqual(
      expect.arrayContaining(['0x00000009', '0x00000004', '0x80000005', '0x00000015', '0x00000006', '0x80000006']),
    );
  });
});
