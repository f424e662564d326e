import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { libsmpp34IsMissing, type LineProcess, tsharkIsMissing } from '../support/foreign-stack.js';
import { GatewayHarness, INBOUND_NUMBER } from '../support/gateway-harness.js';
import type { LineSmsc } from '../support/line-smsc.js';
import { CODE_TEXT, OutboundHarness } from '../support/outbound-harness.js';
import { PHONE } from '../support/session-harness.js';
import { Smpp34 } from '../support/smpp34.js';
import { until } from '../support/until.js';
import { WireTap } from '../support/wire-tap.js';

const WITHIN_MS = 15_000;
const FROM = PHONE.slice(1);
const TO = INBOUND_NUMBER.slice(1);
const KINDS = ['transceiver', 'transmitter', 'receiver'] as const;
const UCS2 = 8;
const HAS_HEADER = 0x40;
const DELIVERED_STATE = 2;
/** Characters of the extension table of GSM 03.38, and two of its basic table that ASCII has elsewhere. */
const EXTENDED = { text: '€[]{}|\\~^@_', octets: Buffer.from('1b651b3c1b3e1b281b291b401b2f1b3d1b140011', 'hex') };

const hex = (text: string | Buffer): string => Buffer.from(text).toString('hex');
const ucs2 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
/** A part of a long message with its number in a user data header. */
const part = (text: string, number: number, total: number): Buffer =>
  Buffer.concat([Buffer.of(5, 0, 3, 77, total, number), Buffer.from(text)]);

describe.skipIf(libsmpp34IsMissing)('libsmpp34 that connects in', () => {
  let gateway: GatewayHarness;
  let tap: WireTap;
  let stack: Smpp34;

  beforeAll(async () => {
    stack = new Smpp34();
    gateway = await GatewayHarness.open();
    await gateway.system({ systemId: 'c', maxConnections: 20, enquireLinkSeconds: 1 });
    await gateway.system({ systemId: 'slow', submitPerSecond: 1 });
    tap = await WireTap.open('server', gateway.ports.smpp);
  });
  afterAll(async () => {
    await stack.close();
    await tap.close();
    await gateway.close();
  });
  // The library decodes all that it is sent.
  afterEach(() => expect(stack.failures).toEqual([]));

  async function bound(kind: (typeof KINDS)[number] = 'transceiver', systemId = 'c'): Promise<LineProcess> {
    const esme = stack.esme(tap.port, systemId, kind);
    expect((await esme.next('bound'))[1]).toBe('0');
    return esme;
  }

  async function isAccepted(answer: Promise<string[]>): Promise<void> {
    const [, status, id] = await answer;
    expect(status).toBe('0');
    expect(id).toMatch(/^msg_/);
  }

  it.each(KINDS)('binds as a %s, asks, and parts', async (kind) => {
    const esme = stack.esme(tap.port, 'c', kind);
    expect(await esme.next('bound')).toEqual(['bound', '0', 'countersign']);
    expect(await esme.ask('enquire', 'enquired')).toEqual(['enquired', '0']);
    expect(await esme.ask('unbind', 'unbound')).toEqual(['unbound', '0']);
    await esme.next('gone');
  });

  it('is refused a wrong password, without our system_id, and the link ends', async () => {
    const esme = stack.esme(tap.port, 'c', 'transceiver', 'wrong');
    expect(await esme.next('bound')).toEqual(['bound', '14', '']);
    await esme.next('gone');
  });

  it('approves sessions, whatever the alphabet and the command', async () => {
    const esme = await bound('transmitter');
    const [plain, wide, payload] = [await gateway.create(), await gateway.create(), await gateway.create()];
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex(gateway.textOf(plain))}`, 'submitted'));
    const line = ucs2(`“${gateway.textOf(wide).split('\n')[0] ?? ''}”`);
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex(line)} ${UCS2}`, 'submitted'));
    const long = `${gateway.textOf(payload)} ${'x'.repeat(400)}`;
    await isAccepted(esme.ask(`data ${FROM} ${TO} ${hex(long)}`, 'submitted'));
    for (const session of [plain, wide, payload]) expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('sends characters of the GSM extension table, which are stored as they are', async () => {
    const esme = await bound();
    const session = await gateway.create();
    const octets = Buffer.concat([EXTENDED.octets, Buffer.from(` ${gateway.textOf(session)}`)]);
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex(octets)}`, 'submitted'));
    expect(await gateway.statusOf(session)).toBe('approved');
    const texts = (await gateway.messages()).map(({ text }) => text);
    expect(texts).toContain(`${EXTENDED.text} ${gateway.textOf(session)}`);
  });

  it('sends long messages in parts, numbered in a header or in TLVs, the last part first', async () => {
    const esme = await bound();
    const [byHeader, byTlvs] = [await gateway.create(), await gateway.create()];
    // The token begins in one part and ends in the next.
    const [head, tail] = [gateway.textOf(byHeader).slice(0, 12), gateway.textOf(byHeader).slice(12)];
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex(part(tail, 2, 2))} 0 ${HAS_HEADER}`, 'submitted'));
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex(part(head, 1, 2))} 0 ${HAS_HEADER}`, 'submitted'));
    const text = gateway.textOf(byTlvs);
    await isAccepted(esme.ask(`part 300 2 2 ${FROM} ${TO} ${hex(text.slice(12))}`, 'submitted'));
    await isAccepted(esme.ask(`part 300 2 1 ${FROM} ${TO} ${hex(text.slice(0, 12))}`, 'submitted'));
    for (const session of [byHeader, byTlvs]) expect(await gateway.statusOf(session)).toBe('approved');
  });

  it('sends five hundred at once, each answered once it is stored', async () => {
    const esme = await bound('transmitter');
    const before = (await gateway.messages()).length;
    expect(await esme.ask(`burst 500 ${FROM} ${TO} ${hex('hello')}`, 'burst')).toEqual(['burst', '500', '0']);
    expect((await gateway.messages()).length - before).toBe(500);
  });

  it('is throttled above its rate, and every message is answered', async () => {
    const esme = await bound('transceiver', 'slow');
    const before = (await gateway.messages()).length;
    const [, accepted, throttled] = (await esme.ask(`burst 100 ${FROM} ${TO} ${hex('hello')}`, 'burst')).map(Number);
    expect(throttled).toBeGreaterThan(0);
    expect((accepted ?? 0) + (throttled ?? 0)).toBe(100);
    expect((await gateway.messages()).length - before).toBe(accepted);
  });

  it('gets an enquire_link, is unbound when the gateway stops, and binds again', async () => {
    const esme = await bound();
    await esme.next('asked');
    await gateway.stop();
    await esme.next('parted');
    await esme.next('gone');
    await gateway.start();
    const session = await gateway.create();
    await isAccepted((await bound()).ask(`submit ${FROM} ${TO} ${hex(gateway.textOf(session))}`, 'submitted'));
    expect(await gateway.statusOf(session)).toBe('approved');
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', async () => {
    // Independent of the other tests: one answer of each kind.
    const esme = await bound();
    await esme.next('asked');
    await isAccepted(esme.ask(`submit ${FROM} ${TO} ${hex('hello')}`, 'submitted'));
    await isAccepted(esme.ask(`data ${FROM} ${TO} ${hex('hello')}`, 'submitted'));
    await esme.ask('unbind', 'unbound');
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect([...sentByUs.keys()]).toEqual(
      expect.arrayContaining(['0x80000009', '0x80000004', '0x80000103', '0x00000015', '0x80000006']),
    );
  });
});

describe.skipIf(libsmpp34IsMissing)('libsmpp34 that we bind to', () => {
  let stack: Smpp34;
  let smsc: LineSmsc;
  let tap: WireTap;
  let out: OutboundHarness;

  beforeAll(async () => {
    stack = new Smpp34();
    smsc = stack.smsc('c');
    tap = await WireTap.open('client', await smsc.listen());
    const carrier = tap.carrier(smsc.name, () => smsc.isBound);
    out = await OutboundHarness.open([{ carrier, bind: { enquireLinkSeconds: 1, responseTimeoutSeconds: 10 } }]);
  });
  afterAll(async () => {
    await out.close();
    await tap.close();
    await stack.close();
  });
  // The library decodes all that it is sent.
  afterEach(() => expect(stack.failures).toEqual([]));

  const isBoundAgain = (): Promise<void> => until('it is bound again', WITHIN_MS, () => smsc.isBound);
  const submitOf = (smscMessageId: string | null) => smsc.submits.find(({ id }) => id === smscMessageId);

  it.each(KINDS)('is bound to as a %s', async (kind) => {
    const other = stack.smsc(kind);
    const hosts = [{ host: '127.0.0.1', port: await other.listen() }];
    await out.gateway.bind({ name: `as-${kind}`, hosts, bindType: kind, enquireLinkSeconds: 1 });
    await until('it is bound', WITHIN_MS, () => other.isBound);
    expect(other.count(`bind ${kind}`)).toBe(1);
    // Our request was answered, and its own is answered.
    await until('it was asked', WITHIN_MS, () => other.count('enquired') > 1);
    other.say('enquire');
    await until('it was answered', WITHIN_MS, () => other.count('answered 0') === 1);
    expect(other.isBound).toBe(true);
  });

  it('refuses a wrong password, and the bind shows it', async () => {
    const other = stack.smsc('refusing');
    const hosts = [{ host: '127.0.0.1', port: await other.listen() }];
    const { id } = await out.gateway.bind({ name: 'refused', hosts, password: 'wrong' });
    const { database } = out.gateway.harness;
    await until('the error is stored', WITHIN_MS, async () => {
      const rows = await database.query<{ error: string | null }>(
        `SELECT status ->> 'lastError' AS error FROM bind_connections WHERE bind_id = $1`,
        [id],
      );
      return rows.some(({ error }) => error?.includes('ESME_RINVPASWD') ?? false);
    });
    expect(other.lines).toContain('bound 14');
    expect(other.isBound).toBe(false);
  });

  it('takes codes, and their receipts find them, by their text and by their TLVs', async () => {
    const ids = await Promise.all([1, 2].map(async () => out.queueCode(await out.gateway.create())));
    const [byWords, byTlvs] = await Promise.all(ids.map((id) => out.waitForState(id, 'submitted')));
    const taken = submitOf(byWords?.smscMessageId ?? null);
    expect(taken).toMatchObject({ source: TO, destination: FROM, text: CODE_TEXT, registeredDelivery: 1, esmClass: 0 });
    const text = `id:${taken?.id ?? ''} sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:DELIVRD err:000 text:`;
    expect(await smsc.deliver(FROM, TO, text, 4)).toBe(0);
    expect(await smsc.statusOf(`receipt ${FROM} ${TO} ${byTlvs?.smscMessageId ?? ''} ${DELIVERED_STATE}`)).toBe(0);
    for (const id of ids) await out.waitForState(id, 'delivered');
  });

  it('takes a text with GSM extension characters in septets, and a long one outside GSM in parts of UCS-2', async () => {
    const extended = await out.queueCode(await out.gateway.create(), { text: `123456 ${EXTENDED.text}` });
    const { smscMessageId } = await out.waitForState(extended, 'submitted');
    expect(submitOf(smscMessageId)).toMatchObject({ dataCoding: 0, esmClass: 0 });
    expect(submitOf(smscMessageId)?.octets).toEqual(Buffer.concat([Buffer.from('123456 '), EXTENDED.octets]));
    const long = `654321 “${'ж'.repeat(90)}”`;
    await out.waitForState(await out.queueCode(await out.gateway.create(), { text: long }), 'submitted');
    const parts = smsc.submits.filter(({ esmClass }) => esmClass === HAS_HEADER);
    expect(parts.map(({ dataCoding, registeredDelivery }) => [dataCoding, registeredDelivery])).toEqual([
      [UCS2, 0],
      [UCS2, 1],
    ]);
    const texts = parts.map(({ octets }) => Buffer.from(octets.subarray(6)).swap16().toString('utf16le'));
    expect(texts.join('')).toBe(long);
  });

  it('hands over MOs, which approve: plain, in UCS-2, with extension characters and in parts', async () => {
    const sessions = await Promise.all(Array.from({ length: 4 }, () => out.gateway.create()));
    const [plain = '', wide = '', extended = '', long = ''] = sessions.map((session) => out.gateway.textOf(session));
    const statuses = [
      await smsc.deliver(FROM, TO, plain),
      await smsc.deliver(FROM, TO, ucs2(`“${wide.split('\n')[0] ?? ''}”`), 0, UCS2),
      await smsc.deliver(FROM, TO, Buffer.concat([EXTENDED.octets, Buffer.from(` ${extended}`)])),
      await smsc.deliver(FROM, TO, part(long.slice(12), 2, 2), HAS_HEADER),
      await smsc.deliver(FROM, TO, part(long.slice(0, 12), 1, 2), HAS_HEADER),
    ];
    expect(statuses).toEqual([0, 0, 0, 0, 0]);
    for (const session of sessions) expect(await out.gateway.statusOf(session)).toBe('approved');
    const texts = (await out.gateway.messages()).map(({ text }) => text);
    expect(texts).toContain(`${EXTENDED.text} ${extended}`);
  });

  it('throttles, and has the code once when it no longer does', async () => {
    const before = smsc.count('throttled');
    await smsc.ask('throttle 1', 'throttling');
    const text = '777777 is your code.';
    const id = await out.queueCode(await out.gateway.create(), { text });
    expect(await out.waitForState(id, 'submitted')).toMatchObject({ attempts: 2 });
    expect(smsc.count('throttled') - before).toBe(1);
    expect(smsc.submits.filter((submit) => submit.text === text)).toHaveLength(1);
  });

  it.each(['unbind', 'drop'])('ends the link by %s, and is bound to again', async (how) => {
    const before = smsc.count('gone');
    smsc.say(how);
    await until('the link is gone', WITHIN_MS, () => smsc.count('gone') > before);
    await isBoundAgain();
    await out.waitForState(await out.queueCode(await out.gateway.create()), 'submitted');
  });

  it('is unbound when the gateway stops under load, and has every code once when it is back', async () => {
    const before = smsc.count('unbound');
    const texts = Array.from({ length: 40 }, (_, n) => `${100_000 + n} is your code.`);
    const ids = await Promise.all(texts.map(async (text) => out.queueCode(await out.gateway.create(), { text })));
    const taken = (): string[] => smsc.submits.map(({ text }) => text).filter((text) => texts.includes(text));
    await until('some were taken', WITHIN_MS, () => taken().length > 0);
    await out.gateway.stop();
    await until('it was unbound', WITHIN_MS, () => smsc.count('unbound') > before);
    await out.gateway.start();
    for (const id of ids) await out.waitForState(id, 'submitted');
    expect(taken().toSorted()).toEqual(texts);
  });

  it.skipIf(tsharkIsMissing)('is sent nothing that tshark calls malformed', async () => {
    const before = smsc.count('enquired');
    await out.waitForState(await out.queueCode(await out.gateway.create()), 'submitted');
    expect(await smsc.deliver(FROM, TO, 'hello')).toBe(0);
    await until('it was asked', WITHIN_MS, () => smsc.count('enquired') > before);
    const { sentByUs, malformedByUs } = tap.dissect();
    expect(malformedByUs).toEqual([]);
    expect([...sentByUs.keys()]).toEqual(
      expect.arrayContaining(['0x00000009', '0x00000004', '0x80000005', '0x00000015']),
    );
  });
});
