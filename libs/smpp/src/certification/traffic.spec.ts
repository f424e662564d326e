import { once } from 'node:events';
import { webcrypto } from 'node:crypto';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { decodeText, encodeGsm, encodeUcs2, fillBitsAfter, packSeptets } from '@countersign/text';
import x509 from '@peculiar/x509';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import type { LinkHandlers, MessageAnswer } from '../link/link-options.js';
import { concatenationOf, messageKind, messageOctets } from '../messages/message-text.js';
import { ID, RESP, counted, cstring, message, pdu, tlv, uint8 } from '../codec/octets.fixture.js';
import { dataSm, deliverSm, submitSm } from '../pdu/pdu.js';
import type { MessagePdu } from '../pdu/pdu.js';
import { parseReceipt } from '../messages/receipt.js';
import { integerTlv, octetsTlv, textTlv } from '../pdu/tlv.js';
import { CREDENTIALS, Loopback, linkOptions } from '../link/raw-peer.fixture.js';
import { SmppLink } from '../link/smpp-link.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

/** The messages passed to the handler of an ESME link. */
async function received(...octets: readonly Buffer[]): Promise<MessagePdu[]> {
  const seen: MessagePdu[] = [];
  const onMessage: LinkHandlers['onMessage'] = (taken) => (seen.push(taken), { status: 0, messageId: 'unused' });
  const { peer } = await loopback.boundEsme('transceiver', { onMessage });
  for (const [i, each] of octets.entries()) {
    each.writeUInt32BE(20 + i, 12);
    peer.send(each);
    const answer = await peer.answer(20 + i);
    // SMPP 3.4 section 4.6.2: the message_id of the response is empty.
    expect([answer.status, answer.octets.subarray(16)]).toEqual([0, uint8(0)]);
  }
  return seen;
}
const deliver = (parts: Parameters<typeof message>[0], tlvs: readonly Buffer[] = []): Buffer =>
  message(parts, tlvs, ID.deliver_sm);

describe('the window', () => {
  it.each([1, 10])('of %i is never exceeded, and is full while requests are queued', async (window) => {
    const { link, peer } = await loopback.boundEsme('transceiver', { window });
    const total = window * 5;
    const answers = Array.from({ length: total }, () => link.request(submitSm({})));
    let open = 0;
    for (let sent = 0, answered = 0; answered < total; answered++) {
      for (; sent < Math.min(total, answered + window); sent++) {
        open = (await peer.request(ID.submit_sm)).sequence;
        expect(link.windowUsed).toBeLessThanOrEqual(window);
      }
      peer.send(pdu(RESP + ID.submit_sm, answered + 2, [cstring('1')]));
    }
    expect(open).toBe(total + 1);
    await Promise.all(answers);
  });
});

describe('a peer with a full queue', () => {
  it.each(['ESME_RTHROTTLED', 'ESME_RMSGQFUL', 'ESME_RINVDSTADR', 'ESME_RSUBMITFAIL'] as const)(
    '%s is a value for the sender, in the order of sending; the link does not send again',
    async (name) => {
      const { link, peer } = await loopback.boundEsme('transceiver');
      const answers = [1, 2].map(() => link.request(submitSm({})));
      for (const sequence of [2, 3]) {
        await peer.request(ID.submit_sm);
        peer.send(pdu(RESP + ID.submit_sm, sequence, [], STATUS[name]));
      }
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([STATUS[name], STATUS[name]]);
      peer.socket.end();
      expect(await peer.closed()).toBe(0);
    },
  );
});

describe('an MO', () => {
  it('is answered only after its handler has decided', async () => {
    let store: (answer: MessageAnswer) => void = () => undefined;
    const onMessage = () => new Promise<MessageAnswer>((resolve) => (store = resolve));
    const { peer } = await loopback.boundSmsc({ onMessage });
    peer.send(message({}, [], ID.submit_sm, 8), pdu(ID.enquire_link, 9));
    // The later enquire_link is answered first.
    const first = await peer.receive();
    expect(first === 'closed' ? first : first.sequence).toBe(9);
    store({ status: 0, messageId: 'stored' });
    expect((await peer.answer(8)).octets.subarray(16)).toEqual(cstring('stored'));
  });

  it.each([0x08, 0x14, 0x45, 0x58, 0x64, 0x67, 0xfe, 0xff])(
    "is answered with any status of its carrier's table: %i",
    async (status) => {
      for (const pair of [
        await loopback.boundSmsc({ onMessage: () => ({ status }) }),
        await loopback.boundEsme('receiver', { onMessage: () => ({ status }) }),
      ]) {
        pair.peer.send(message({}, [], ID.deliver_sm, 8));
        expect((await pair.peer.answer(8)).status).toBe(status);
      }
    },
  );

  it("gets its carrier's retryable status when the handler fails, never 0x64 by default", async () => {
    const onMessage = () => Promise.reject(new Error('away'));
    const bare = await loopback.boundSmsc({ onMessage });
    bare.peer.send(message());
    expect((await bare.peer.answer(7)).status).toBe(STATUS.ESME_RSYSERR);
    const withStatus = await loopback.boundSmsc({ onMessage, retryableStatus: () => STATUS.ESME_RTHROTTLED });
    withStatus.peer.send(message());
    expect((await withStatus.peer.answer(7)).status).toBe(STATUS.ESME_RTHROTTLED);
  });
});

describe('addresses', () => {
  it.each([
    ['a number', 1, 1, '15551230001'],
    ['a short code', 3, 0, '44567'],
    ['a name', 5, 0, 'Countersign'],
    ['a non-ASCII name', 5, 0, 'Caf\u00e9 N\u00ba1'],
    ['none', 0, 0, ''],
  ])('%s is sent and received unchanged', async (_what, ton, npi, value) => {
    const address = Buffer.concat([uint8(ton, npi), cstring(value)]);
    const [taken] = await received(deliver({ source: address, destination: address }));
    expect(taken?.fields).toMatchObject({
      sourceAddress: { ton, npi, value },
      destinationAddress: { ton, npi, value },
    });
    const { link, peer } = await loopback.boundEsme('transmitter');
    link.request(submitSm({ sourceAddress: { ton, npi, value } })).catch(() => undefined);
    expect((await peer.request(ID.submit_sm)).octets.subarray(17, 17 + address.length)).toEqual(address);
  });
});

describe('alphabets', () => {
  const TEXT = 'AUTH-ACME-0123 [@_]';
  const gsm = encodeGsm(TEXT);
  const latin1 = Buffer.from(TEXT, 'latin1');
  it.each([
    [0x00, 'gsm', gsm],
    [0x01, 'gsm', latin1],
    [0x03, 'gsm', latin1],
    [0x04, 'gsm', latin1],
    [0x08, 'gsm', encodeUcs2(TEXT)],
    [0x10, 'gsm', gsm],
    [0x18, 'gsm', encodeUcs2(TEXT)],
    ...[0xf0, 0xf1, 0xf2, 0xf3].map((dataCoding) => [dataCoding, 'gsm', gsm] as const),
    ...[0xf4, 0xf5, 0xf6, 0xf7].map((dataCoding) => [dataCoding, 'gsm', latin1] as const),
    [0x00, 'gsm-packed', gsm === null ? null : packSeptets(gsm)],
    [0x00, 'latin1', latin1],
  ] as const)(
    'data_coding %i as %s: the octets arrive complete and decode to the text',
    async (dataCoding, alphabet, text) => {
      if (text === null) throw new Error('not encodable');
      const [taken] = await received(deliver({ dataCoding: uint8(dataCoding), text: counted(Buffer.from(text)) }));
      if (taken === undefined) throw new Error('no message received');
      expect(decodeText(messageOctets(taken).octets, dataCoding, alphabet)).toBe(TEXT);
    },
  );
});

describe('parts of a long message', () => {
  const UDHI = uint8(0x40);
  const part = (header: readonly number[], text: Uint8Array = Buffer.from('x')): Buffer =>
    deliver({ esmClass: UDHI, text: counted(Buffer.concat([Uint8Array.from(header), text])) });
  const sar = (reference: number, total: number, number: number): Buffer[] => [
    tlv(0x020c, uint8(reference >> 8, reference & 0xff)),
    tlv(0x020e, uint8(total)),
    tlv(0x020f, uint8(number)),
  ];

  it.each([
    ['an 8-bit reference', [part([5, 0x00, 3, 0xab, 2, 1])], 0xab, 8],
    ['a 16-bit reference', [part([6, 0x08, 4, 0xab, 0xcd, 2, 1])], 0xabcd, 16],
    ['the second element of a header', [part([9, 0x24, 2, 1, 1, 0x00, 3, 7, 2, 1])], 7, 8],
    ['SAR TLVs', [deliver({}, sar(0xabcd, 2, 1))], 0xabcd, 16],
    [
      'SAR TLVs around a message_payload',
      [deliver({ text: uint8(0) }, [...sar(9, 2, 1), tlv(0x0424, uint8(65))])],
      9,
      16,
    ],
    [
      'a header in a message_payload',
      [deliver({ esmClass: UDHI, text: uint8(0) }, [tlv(0x0424, uint8(5, 0, 3, 0xab, 2, 1, 65))])],
      0xab,
      8,
    ],
  ] as const)('%s', async (_what, octets, reference, referenceBits) => {
    const [taken] = await received(...octets);
    if (taken === undefined) throw new Error('no message received');
    expect(concatenationOf(taken)).toEqual({ reference, referenceBits, total: 2, part: 1 });
  });

  it('that arrive out of order, twice, or incomplete are each answered separately', async () => {
    const octets = [3, 1, 3, 1].map((number) => part([5, 0x00, 3, 9, 3, number]));
    const seen = await received(...octets);
    expect(seen.map((each) => concatenationOf(each)?.part)).toEqual([3, 1, 3, 1]);
  });

  it('with contradictory or missing SAR values are separate messages', async () => {
    const broken = [sar(9, 0, 1), sar(9, 2, 3), sar(9, 2, 0), sar(9, 2, 1).slice(1)];
    const seen = await received(...broken.map((tlvs) => deliver({}, tlvs)));
    expect(seen.map((each) => concatenationOf(each))).toEqual([null, null, null, null]);
  });

  it('are packed behind their header, with its fill bits', async () => {
    const header = [5, 0x00, 3, 9, 2, 1];
    const septets = encodeGsm('AUTH-ACME-0123') ?? new Uint8Array();
    const fillBits = fillBitsAfter(header.length);
    const [taken] = await received(part(header, packSeptets(septets, fillBits)));
    if (taken === undefined) throw new Error('no message received');
    const { octets, udh } = messageOctets(taken);
    expect(udh?.fillBits).toBe(fillBits);
    expect(decodeText(octets, 0, 'gsm-packed', udh?.fillBits)).toBe('AUTH-ACME-0123');
  });
});

describe('a receipt', () => {
  const RECEIPT = uint8(0x04);
  const TEXT = 'id:00aF sub:001 dlvrd:001 submit date:2511211200 done date:2511211201 stat:DELIVRD err:000 text:';
  const delivered = { messageId: '00aF', state: 'delivered', networkError: null };
  const state = (value: number): Buffer => tlv(0x0427, uint8(value));
  it.each([
    ['by appendix B', TEXT, [], delivered],
    ['with seconds in its dates', TEXT.replaceAll('2511211', '2511211122'), [], delivered],
    ['without sub: and dlvrd:', TEXT.replace('sub:001 dlvrd:001 ', ''), [], delivered],
    ['with Text:', TEXT.replace('text:', 'Text:hello'), [], delivered],
    [
      'with an error of 4 digits',
      TEXT.replace('DELIVRD err:000', 'UNDELIV err:0045'),
      [],
      { messageId: '00aF', state: 'undelivered', networkError: '0045' },
    ],
    [
      'with an error in hex',
      TEXT.replace('DELIVRD err:000', 'REJECTD err:0x1F'),
      [],
      { messageId: '00aF', state: 'undelivered', networkError: '0x1F' },
    ],
    ['by TLVs only', '', [tlv(0x001e, cstring('00aF')), state(2)], delivered],
    ['by TLVs against its text', 'id:7 stat:UNDELIV err:001', [tlv(0x001e, cstring('00aF')), state(2)], delivered],
    [
      'by a network_error_code',
      '',
      [tlv(0x001e, cstring('00aF')), state(5), tlv(0x0423, uint8(3, 0, 27))],
      { messageId: '00aF', state: 'undelivered', networkError: '027' },
    ],
  ] as const)('%s', async (_what, text, tlvs, expected) => {
    const [taken] = await received(deliver({ esmClass: RECEIPT, text: counted(text) }, tlvs));
    if (taken === undefined) throw new Error('no message received');
    expect(messageKind(taken)).toBe('receipt');
    expect(parseReceipt(taken)).toEqual(expected);
  });

  it('may be a data_sm; an id keeps its case and its zeros; an intermediate notification leaves the state undecided', () => {
    const tlvs = [textTlv('receipted_message_id', '00aF'), integerTlv('message_state', 2)];
    expect(parseReceipt({ ...dataSm({ esmClass: 0x04 }, tlvs), sequence: 1 })).toEqual(delivered);
    expect(parseReceipt({ ...deliverSm({ esmClass: 0x20 }, tlvs), sequence: 1 })?.state).toBe('undecided');
    const untidy = [octetsTlv('receipted_message_id', Buffer.from('00aF\0\0')), integerTlv('message_state', 2)];
    expect(parseReceipt({ ...deliverSm({ esmClass: 0x04 }, untidy), sequence: 1 })).toEqual(delivered);
  });

  it('that arrives before the response to its message, twice, or for a message of another link is passed to the handler', async () => {
    const seen: string[] = [];
    const onMessage: LinkHandlers['onMessage'] = (taken) => {
      seen.push(parseReceipt(taken)?.messageId ?? '');
      return { status: 0 };
    };
    const { link, peer } = await loopback.boundEsme('transceiver', { onMessage });
    const request = link.request(submitSm({ registeredDelivery: 1 }));
    const { sequence } = await peer.request(ID.submit_sm);
    const early = message({ esmClass: RECEIPT, text: counted(TEXT) }, [], ID.deliver_sm, 30);
    const foreign = message({ esmClass: RECEIPT, text: counted('id:other stat:DELIVRD') }, [], ID.deliver_sm, 31);
    peer.send(early, foreign, early, pdu(RESP + ID.submit_sm, sequence, [cstring('00aF')]));
    expect(await request).toMatchObject({ fields: { messageId: '00aF' } });
    expect(seen).toEqual(['00aF', 'other', '00aF']);
  });
});

describe('TLS', () => {
  const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const DAY_MS = 86_400_000;

  async function identity(): Promise<{ cert: string; key: string }> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: 'CN=smsc.test',
      keys,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + DAY_MS),
      extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'smsc.test' }])],
    });
    const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    const key = `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
    return { cert: certificate.toString('pem'), key };
  }

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('carries a session in both roles: %s', async (version) => {
    const { cert, key } = await identity();
    const server = createTlsServer({ cert, key, minVersion: version, maxVersion: version });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const far = connectTls({ port: address.port, host: '127.0.0.1', ca: cert, servername: 'smsc.test' });
    const [near] = await accepted;
    const smsc = new SmppLink(near, linkOptions());
    const esme = new SmppLink(far, linkOptions({ role: 'esme' }));
    expect((await esme.bind({ bindType: 'transceiver', ...CREDENTIALS })).status).toBe(0);
    expect([far.authorized, far.getProtocol()]).toEqual([true, version]);
    const answers = Array.from({ length: 50 }, () => esme.request(submitSm({ shortMessage: Buffer.alloc(200, 65) })));
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([0]));
    expect((await smsc.request(deliverSm({}))).status).toBe(0);
    await esme.unbind();
    expect((await smsc.closed).reason).toBe('the peer unbound');
    server.close();
  });
});
