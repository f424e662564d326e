import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodePdu } from '../codec/decode.js';
import { STATUS } from '../pdu/dictionary.js';
import type { StatusName } from '../pdu/dictionary.js';
import { encodePdu } from '../codec/encode.js';
import { LinkClosedError, ResponseTimeoutError } from '../link/link-errors.js';
import type { LinkHandlers } from '../link/link-options.js';
import {
  ID,
  MESSAGE_PARTS,
  RESP,
  TEXT,
  bind,
  counted,
  cstring,
  dataMessage,
  enquireLink,
  message,
  pdu,
  tlv,
  uint8,
} from '../codec/octets.fixture.js';
import { OutboundRequests } from '../link/outbound-requests.js';
import { RequestWindow } from '../link/window.js';
import { submitSm } from '../pdu/pdu.js';
import type { MessagePdu, Pdu } from '../pdu/pdu.js';
import { octetsTlv } from '../pdu/tlv.js';
import { Loopback, PATIENT, linkOptions, type FlatLinkOptions } from '../link/raw-peer.fixture.js';
import type { RawPeer } from '../link/raw-peer.fixture.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

/** A link in each role that may receive `id`, with the messages passed to its handler. */
const ROLES = [
  ['an SMSC', (o: Partial<FlatLinkOptions>) => loopback.boundSmsc(o), ID.submit_sm],
  ['an ESME', (o: Partial<FlatLinkOptions>) => loopback.boundEsme('transceiver', o), ID.deliver_sm],
] as const;

async function isAlive(peer: RawPeer): Promise<void> {
  peer.send(enquireLink(0x4444));
  expect((await peer.answer(0x4444)).status).toBe(0);
}

describe('sequence numbers', () => {
  it('begin at 1 with the bind and increase by one; both directions count separately', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver');
    const answers = [1, 2, 3].map(() => link.request(submitSm({})));
    for (const sequence of [2, 3, 4]) {
      expect((await peer.request(ID.submit_sm)).sequence).toBe(sequence);
      // The peer's sequence number 2 is independent of ours.
      peer.send(message({}, [], ID.deliver_sm, sequence));
      expect((await peer.answer(sequence)).id).toBe(RESP + ID.deliver_sm);
    }
    for (const sequence of [4, 2, 3]) peer.send(pdu(RESP + ID.submit_sm, sequence, [cstring(`m${sequence}`)]));
    const ids = (await Promise.all(answers)).map((answer) => 'messageId' in answer.fields && answer.fields.messageId);
    expect(ids).toEqual(['m2', 'm3', 'm4']);
  });

  it('run to 0x7FFFFFFF and wrap to 1', () => {
    const sent: Pdu[] = [];
    const requests = new OutboundRequests(new RequestWindow(10, 0x7fff_fffd), {
      maxWaiting: 1,
      responseMs: () => 1_000,
      nowMs: () => 0,
      transmit: (out) => sent.push(out),
    });
    for (let i = 0; i < 4; i++) requests.send(submitSm({}), { resolve: () => undefined, reject: () => undefined });
    expect(sent.map(({ sequence }) => sequence)).toEqual([0x7fff_fffe, 0x7fff_ffff, 1, 2]);
  });

  it.each(ROLES)(
    'as %s: the peer may use any, including 0 and those above 0x7FFFFFFF, and gets the same one back',
    async (...at) => {
      const [, bound, id] = at;
      const { peer } = await bound({});
      for (const sequence of [0, 1, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
        peer.send(message({}, [], id, sequence));
        expect((await peer.answer(sequence)).status).toBe(0);
      }
    },
  );

  it('of late, repeated or unmatched responses change nothing, and get no answer', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver', { timers: { ...PATIENT, responseMs: 40 } });
    const late = link.request(submitSm({}));
    const { sequence } = await peer.request(ID.submit_sm);
    await expect(late).rejects.toBeInstanceOf(ResponseTimeoutError);
    const answer = pdu(RESP + ID.submit_sm, sequence, [cstring('late')]);
    peer.send(answer, answer, pdu(RESP + ID.submit_sm, 999, [cstring('foreign')]), pdu(RESP + ID.query_sm, 998));
    peer.send(pdu(0x8000_0777, 997), pdu(ID.generic_nack, 996, [], 3), pdu(RESP + ID.unbind, 995));
    await isAlive(peer);
    expect([link.state, link.windowUsed]).toEqual(['bound_trx', 0]);
    peer.socket.end();
    expect(await peer.closed()).toBe(0);
  });

  it('of a response to another command resolve nothing', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver');
    const request = link.request(submitSm({})).catch((error: unknown) => error);
    const { sequence } = await peer.request(ID.submit_sm);
    for (const id of [ID.deliver_sm, ID.data_sm, ID.enquire_link, ID.bind_transceiver, ID.unbind]) {
      peer.send(pdu(RESP + id, sequence, id === ID.enquire_link || id === ID.unbind ? [] : [cstring('')]));
    }
    await isAlive(peer);
    expect(link.windowUsed).toBe(1);
    peer.socket.destroy();
    expect(await request).toBeInstanceOf(LinkClosedError);
  });
});

describe('a PDU that is not a valid request', () => {
  it.each(ROLES)(
    'as %s: an unknown command gets generic_nack 0x03 with its number, and the session stays open',
    async (_, bound) => {
      const { peer } = await bound({});
      for (const id of [0x0777, 0x0001_0000, 0x7fff_ffff]) {
        peer.send(pdu(id, 31, [Buffer.alloc(20, 7)]));
        const answer = await peer.answer(31);
        expect([answer.id, answer.status]).toEqual([ID.generic_nack, STATUS.ESME_RINVCMDID]);
      }
      await isAlive(peer);
    },
  );

  it.each(ROLES)(
    'as %s: a command that we do not implement gets 0x03 in its own response, whatever its body',
    async (_, bound) => {
      const { peer } = await bound({});
      for (const [id, body] of [
        [ID.submit_multi, uint8(0, 0)],
        [ID.broadcast_sm, uint8(0)],
        [ID.query_broadcast_sm, uint8(0)],
        [ID.cancel_broadcast_sm, uint8()],
      ] as const) {
        peer.send(pdu(id, 31, [Buffer.alloc(20, 7)]));
        const answer = await peer.answer(31);
        expect([answer.id, answer.status]).toEqual([RESP + id, STATUS.ESME_RINVCMDID]);
        expect(answer.octets.subarray(16)).toEqual(Buffer.from(body));
      }
      await isAlive(peer);
    },
  );

  it.each(ROLES)(
    'as %s: a command_length outside its limits gets generic_nack 0x02 with number 0, then the connection closes',
    async (_, bound) => {
      for (const length of [0, 15, 70_001, 0xffff_ffff]) {
        const { peer, link } = await bound({});
        const octets = enquireLink(9);
        octets.writeUInt32BE(length);
        peer.send(octets);
        const answer = await peer.answer(0);
        expect([answer.id, answer.status]).toEqual([ID.generic_nack, STATUS.ESME_RINVCMDLEN]);
        await link.closed;
        expect(link.lastError).toContain('command_length');
      }
    },
  );

  it.each(ROLES)('as %s: a response is never nacked, however malformed', async (_, bound) => {
    const { peer } = await bound({});
    peer.send(pdu(RESP + ID.submit_sm, 5, [Buffer.alloc(80, 65)]), pdu(0x8000_0777, 6), pdu(ID.generic_nack, 7));
    await isAlive(peer);
    peer.socket.end();
    expect(await peer.closed()).toBe(0);
  });
});

describe('a request about an earlier message', () => {
  const from = MESSAGE_PARTS.source;
  const { schedule, validity, registered, defaultMessage, text, destination, serviceType } = MESSAGE_PARTS;
  const id = cstring('id-1');
  /** Its failure, and the octets of its response behind the header: those of query_sm have no status without a body. */
  const REQUESTS = [
    ['query_sm', STATUS.ESME_RQUERYFAIL, 0x67, [id, from], uint8(0, 0, 0, 0)],
    ['cancel_sm', STATUS.ESME_RCANCELFAIL, 0x11, [serviceType, id, from, destination], uint8()],
    [
      'replace_sm',
      STATUS.ESME_RREPLACEFAIL,
      0x13,
      [id, from, schedule, validity, registered, defaultMessage, text],
      uint8(),
    ],
  ] as const;

  it.each(REQUESTS)('%s fails in its own response with %i', async (command, status, code, parts, body) => {
    expect(status).toBe(code);
    const { peer } = await loopback.boundSmsc();
    peer.send(pdu(ID[command], 31, parts));
    const answer = await peer.answer(31);
    expect([answer.id, answer.status]).toEqual([RESP + ID[command], code]);
    expect(answer.octets.subarray(16)).toEqual(body);
    await isAlive(peer);
  });

  it.each(REQUESTS)('%s with a malformed field gets the status of that field in its own response', async (...of) => {
    const [command, , , parts] = of;
    const { peer } = await loopback.boundSmsc();
    const longId = parts.map((part) => (part === id ? cstring('1'.repeat(65)) : part));
    peer.send(pdu(ID[command], 31, longId), pdu(ID[command], 32, parts.slice(0, -1)));
    const answers = [await peer.answer(31), await peer.answer(32)];
    expect(answers.map((answer) => [answer.id, answer.status])).toEqual([
      [RESP + ID[command], STATUS.ESME_RINVMSGID],
      [RESP + ID[command], STATUS.ESME_RINVCMDLEN],
    ]);
    await isAlive(peer);
  });

  it('gets 0x04 on a receiver bind, and from an SMSC', async () => {
    for (const { peer } of [await loopback.boundSmsc({}, ID.bind_receiver), await loopback.boundEsme('transceiver')]) {
      for (const [command, , , parts] of REQUESTS) {
        peer.send(pdu(ID[command], 31, parts));
        const answer = await peer.answer(31);
        expect([answer.id, answer.status]).toEqual([RESP + ID[command], STATUS.ESME_RINVBNDSTS]);
      }
    }
  });
});

describe('alert_notification', () => {
  const alert = pdu(ID.alert_notification, 31, [
    MESSAGE_PARTS.source,
    MESSAGE_PARTS.destination,
    tlv(0x0422, uint8(0)),
  ]);

  it.each(['receiver', 'transceiver'] as const)(
    'as an ESME bound as a %s: is accepted without an answer',
    async (type) => {
      const seen: string[] = [];
      const onPdu: LinkHandlers['onPdu'] = (direction, { command }) => seen.push(`${direction} ${command}`);
      const { peer, link } = await loopback.boundEsme(type, { onPdu });
      peer.send(alert, pdu(ID.alert_notification, 32, [uint8(1, 1)]));
      await isAlive(peer);
      expect(seen.slice(2)).toEqual(['in alert_notification', 'in enquire_link', 'out enquire_link_resp']);
      expect(link.state).toBe(type === 'receiver' ? 'bound_rx' : 'bound_trx');
      peer.socket.end();
      expect(await peer.closed()).toBe(0);
    },
  );

  it('as an ESME bound as a transmitter, and as an SMSC: gets generic_nack, because it has no response', async () => {
    const transmitter = await loopback.boundEsme('transmitter');
    const smsc = await loopback.boundSmsc();
    for (const [{ peer }, status] of [
      [transmitter, STATUS.ESME_RINVBNDSTS],
      [smsc, STATUS.ESME_RINVCMDID],
    ] as const) {
      peer.send(alert);
      const answer = await peer.answer(31);
      expect([answer.id, answer.status]).toEqual([ID.generic_nack, status]);
      await isAlive(peer);
    }
  });
});

describe('a malformed field gets the status of that field in the response of its command, and the session stays open', () => {
  const address = (text: string): Buffer => Buffer.concat([uint8(1, 1), cstring(text)]);
  type Parts = Parameters<typeof message>[0];
  const FIELDS: readonly (readonly [StatusName, number, string, Parts, Buffer[]])[] = [
    ['ESME_RINVMSGLEN', 0x01, 'a text longer than the PDU', { text: uint8(200, 65) }, []],
    ['ESME_RINVMSGLEN', 0x01, 'a text of 255 octets', { text: counted('x'.repeat(255)) }, []],
    ['ESME_RINVCMDLEN', 0x02, 'an end inside a field', { text: Buffer.alloc(0), dataCoding: Buffer.alloc(0) }, []],
    ['ESME_RINVSRCADR', 0x0a, 'a source of 21 characters', { source: address('1'.repeat(21)) }, []],
    ['ESME_RINVDSTADR', 0x0b, 'a destination of 21 characters', { destination: address('1'.repeat(21)) }, []],
    ['ESME_RINVSERTYP', 0x15, 'a service_type of 6 characters', { serviceType: cstring('ABCDEF') }, []],
    ['ESME_RINVESMCLASS', 0x43, 'a reserved esm_class', { esmClass: uint8(0x0c) }, []],
    ['ESME_RINVSCHED', 0x61, 'a schedule of 15 characters', { schedule: cstring('26013123595990+') }, []],
    ['ESME_RINVEXPIRY', 0x62, 'a validity in words', { validity: cstring('tomorrow at noon') }, []],
    ['ESME_RINVTLVSTREAM', 0xc0, 'a TLV past the end', {}, [tlv(0x1400, uint8(1), 9)]],
    ['ESME_RTLVNOTALLWD', 0xc1, 'both short_message and message_payload', {}, [tlv(0x0424, Buffer.from('twice'))]],
    ['ESME_RINVTLVLEN', 0xc2, 'a sar_msg_ref_num of one octet', {}, [tlv(0x020c, uint8(1))]],
    ['ESME_RINVTLVVAL', 0xc4, 'a reserved payload_type', {}, [tlv(0x0019, uint8(9))]],
  ];

  it.each(FIELDS)('%s (%i): %s', async (name, status, _what, parts, tlvs) => {
    expect(STATUS[name]).toBe(status);
    for (const [, bound, id] of ROLES) {
      const { peer } = await bound({});
      peer.send(message(parts, tlvs, id, 8));
      const answer = await peer.answer(8);
      expect([answer.id, answer.status]).toEqual([RESP + id, status]);
      await isAlive(peer);
    }
  });

  it('ESME_RMISSINGTLV (0xC3): a data_sm without message_payload; an empty one is an empty text', async () => {
    for (const [, bound] of ROLES) {
      const { peer } = await bound({});
      peer.send(dataMessage([tlv(0x0204, uint8(0, 9))], 8), dataMessage([tlv(0x0424, uint8())], 9));
      const refused = await peer.answer(8);
      expect([refused.id, refused.status]).toEqual([RESP + ID.data_sm, STATUS.ESME_RMISSINGTLV]);
      expect((await peer.answer(9)).status).toBe(0);
    }
  });

  it('ESME_RMISSINGTLV (0xC3): a data_sm receipt without a message id', async () => {
    for (const [, bound] of ROLES) {
      const { peer } = await bound({});
      const receipt = dataMessage([tlv(0x0427, uint8(2))], 8);
      receipt[16 + 1 + 2 * (2 + 12)] = 0x04;
      expect(decodePdu(receipt)).toMatchObject({ of: 'data_sm', status: 0xc3 });
      peer.send(receipt);
      expect((await peer.answer(8)).status).toBe(STATUS.ESME_RMISSINGTLV);
      await isAlive(peer);
    }
  });
});

describe('TLVs', () => {
  it.each(ROLES)(
    'as %s: unknown ones are kept in order, known ones in the wrong command are accepted',
    async (...at) => {
      const [, bound, id] = at;
      const seen: MessagePdu[] = [];
      const { peer } = await bound({ onMessage: (taken) => (seen.push(taken), { status: 0 }) });
      const tlvs = [
        tlv(0x1400, Buffer.from('vendor')),
        tlv(0x0210, uint8(0x34)),
        tlv(0x3fff, uint8()),
        tlv(0x1400, uint8(2)),
      ];
      const octets = message({}, tlvs, id, 8);
      peer.send(octets);
      expect((await peer.answer(8)).status).toBe(0);
      expect(seen[0]?.tlvs.map(({ tag }) => tag)).toEqual([0x1400, 0x0210, 0x3fff, 0x1400]);
      // A received message can be forwarded unchanged.
      expect(seen[0] === undefined ? null : encodePdu(seen[0])).toEqual(octets);
    },
  );
});

describe('texts of every length', () => {
  it.each<readonly [string, Parameters<typeof message>[0], readonly Buffer[]]>([
    ['none', {}, []],
    ['254 octets', { text: counted('x'.repeat(254)) }, []],
    ['a message_payload of 64 KiB', { text: uint8(0) }, [tlv(0x0424, Buffer.alloc(65_535, 65))]],
  ])('%s: accepted in both roles', async (_what, parts, tlvs) => {
    for (const [, bound, id] of ROLES) {
      const { peer } = await bound({});
      peer.send(message(parts, tlvs, id, 8));
      expect((await peer.answer(8)).status).toBe(0);
    }
  });

  it('a message_payload of 64 KiB is sent, short_message and message_payload together are not', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver');
    const payload = octetsTlv('message_payload', Buffer.alloc(65_535, 65));
    link.request(submitSm({}, [payload])).catch(() => undefined);
    expect((await peer.request(ID.submit_sm)).octets.length).toBe(16 + 17 + 4 + 65_535);
    await expect(link.request(submitSm({ shortMessage: Buffer.from('x') }, [payload]))).rejects.toThrow(
      'both short_message',
    );
  });
});

describe('a stream segmented in any way', () => {
  const dialogue = [bind(), message({}, [], ID.submit_sm, 2), enquireLink(3), message({}, [], ID.deliver_sm, 4)];
  const read = async (peer: RawPeer): Promise<number[]> => {
    const statuses: number[] = [];
    for (const sequence of [1, 2, 3, 4]) statuses.push((await peer.answer(sequence)).status);
    return statuses;
  };
  const texts: string[] = [];
  const options = linkOptions({
    onMessage: (taken) => {
      if (taken.command !== 'data_sm') texts.push(taken.fields.shortMessage.toString());
      return { status: 0, messageId: '1' };
    },
  });

  it('one octet at a time', async () => {
    const { peer } = await loopback.link(options);
    peer.socket.setNoDelay(true);
    for (const octet of Buffer.concat(dialogue)) {
      peer.send(uint8(octet));
      await new Promise(setImmediate);
    }
    expect(await read(peer)).toEqual([0, 0, 0, 0]);
    expect(texts.splice(0)).toEqual([TEXT, TEXT]);
  });

  it('all in one segment, including the bind', async () => {
    const { peer } = await loopback.link(options);
    peer.send(...dialogue);
    // The bind is decided in a later event loop turn: requests behind it in the same read are refused.
    expect(await read(peer)).toEqual([0, STATUS.ESME_RINVBNDSTS, 0, STATUS.ESME_RINVBNDSTS]);
    peer.send(...dialogue.slice(1), message({}, [], ID.submit_sm, 5));
    expect((await peer.answer(5)).status).toBe(0);
    expect(texts.splice(0)).toEqual([TEXT, TEXT, TEXT]);
  });

  it('split in two at every octet', async () => {
    const { peer } = await loopback.boundSmsc(options.handlers);
    peer.socket.setNoDelay(true);
    const octets = message({}, [tlv(0x1400, uint8(1))], ID.submit_sm, 6);
    for (let at = 1; at < octets.length; at++) {
      peer.send(octets.subarray(0, at));
      await new Promise(setImmediate);
      peer.send(octets.subarray(at));
      expect((await peer.answer(6)).status).toBe(0);
    }
    expect(new Set(texts.splice(0))).toEqual(new Set([TEXT]));
  });
});
