import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import { LinkClosedError, NotSentError, ResponseTimeoutError, UnreadableResponseError } from './link-errors.js';
import type { LinkState } from './link-state.js';
import {
  ID,
  RESP,
  TEXT,
  bind,
  counted,
  cstring,
  enquireLink,
  message,
  pdu,
  tlv,
  uint8,
} from '../codec/octets.fixture.js';
import { deliverSm, submitSm } from '../pdu/pdu.js';
import type { MessagePdu, Pdu } from '../pdu/pdu.js';
import type { MessageAnswer } from './link-options.js';
import { integerTlv, octetsTlv } from '../pdu/tlv.js';
import { CREDENTIALS, Loopback, PATIENT, RawPeer, linkOptions } from './raw-peer.fixture.js';
import { SmppLink } from './smpp-link.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

const OK: MessageAnswer = { status: STATUS.ESME_ROK };
const boundTo = (...of: Parameters<Loopback['boundSmsc']>) => loopback.boundSmsc(...of);
const boundAs = (...of: Parameters<Loopback['boundEsme']>) => loopback.boundEsme(...of);

describe('binding, as an SMSC', () => {
  it.each([
    ['bind_transmitter', ID.bind_transmitter, 'bound_tx'],
    ['bind_receiver', ID.bind_receiver, 'bound_rx'],
    ['bind_transceiver', ID.bind_transceiver, 'bound_trx'],
  ])('%s gets its own response with our system_id and version', async (_name, id, state) => {
    const { link, peer } = await loopback.link(linkOptions());
    peer.send(bind(id, { systemId: 'carrier' }));
    const answer = await peer.answer(1);
    expect([answer.id, answer.status]).toEqual([RESP + id, 0]);
    expect(answer.octets.subarray(16)).toEqual(Buffer.concat([cstring('gateway'), tlv(0x0210, uint8(0x34))]));
    expect([link.state, link.systemId]).toEqual([state, 'carrier']);
  });

  it.each([
    ['a wrong password', STATUS.ESME_RINVPASWD],
    ['an unknown system_id', STATUS.ESME_RINVSYSID],
    ['too many binds', STATUS.ESME_RBINDFAIL],
  ])('%s: the error response has an empty system_id, and the connection closes', async (_name, status) => {
    const { link, peer } = await loopback.link(linkOptions({ authenticate: () => Promise.resolve({ status }) }));
    peer.send(bind());
    const answer = await peer.answer(1);
    expect([answer.status, answer.octets.subarray(16)]).toEqual([status, cstring('')]);
    expect(await peer.closed()).toBe(0);
    expect((await link.closed).reason).toContain('refused');
  });

  it('refuses with ESME_RSYSERR when authentication fails, and never binds without an authenticator', async () => {
    const away = await loopback.link(linkOptions({ authenticate: () => Promise.reject(new Error('away')) }));
    away.peer.send(bind());
    expect((await away.peer.answer(1)).status).toBe(STATUS.ESME_RSYSERR);
    const none = await loopback.link({ ...linkOptions(), endpoint: { role: 'smsc', interfaceVersion: 0x34 } });
    none.peer.send(bind());
    expect((await none.peer.answer(1)).status).toBe(STATUS.ESME_RBINDFAIL);
    await Promise.all([away.link.closed, none.link.closed]);
  });

  it('a second bind gets 0x05, and the session stays open', async () => {
    const { peer } = await boundTo();
    peer.send(bind(ID.bind_receiver, {}, 2), enquireLink(3));
    expect((await peer.answer(2)).status).toBe(STATUS.ESME_RALYBND);
    expect((await peer.answer(3)).status).toBe(0);
  });

  it('a peer below 3.4 gets no TLV and message ids of 8 octets', async () => {
    const onMessage = () => ({ status: 0, messageId: 'ABCDEFGH12345678' });
    const { peer } = await loopback.link(linkOptions({ onMessage }));
    peer.send(bind(ID.bind_transceiver, { version: 0x33 }));
    expect((await peer.answer(1)).octets.subarray(16)).toEqual(cstring('gateway'));
    peer.send(message());
    expect((await peer.answer(7)).octets.subarray(16)).toEqual(cstring('12345678'));
  });

  it('decodes 255 octets of text when both sides use 5.0, and refuses them in 3.4', async () => {
    const full = message({ text: counted('x'.repeat(255)) });
    const old = await boundTo();
    old.peer.send(full);
    expect((await old.peer.answer(7)).status).toBe(STATUS.ESME_RINVMSGLEN);
    const modern = await boundTo({ interfaceVersion: 0x50 }, ID.bind_transceiver, { version: 0x50 });
    modern.peer.send(full);
    expect((await modern.peer.answer(7)).status).toBe(0);
  });
});

describe('requests and states', () => {
  it('anything but bind and enquire_link before the bind gets 0x04 in its own response', async () => {
    const { peer } = await loopback.link(linkOptions());
    const requests = [ID.submit_sm, ID.deliver_sm, ID.data_sm, ID.unbind, ID.query_sm];
    peer.send(...requests.map((id, i) => pdu(id, 10 + i, [])), enquireLink(20));
    for (const [i, id] of requests.entries()) {
      const answer = await peer.answer(10 + i);
      expect([answer.id, answer.status]).toEqual([RESP + id, STATUS.ESME_RINVBNDSTS]);
    }
    expect((await peer.answer(20)).status).toBe(0);
  });

  it('submit_sm on a receiver bind gets 0x04; deliver_sm on a transmitter bind is accepted', async () => {
    const receiver = await boundTo({}, ID.bind_receiver);
    receiver.peer.send(message());
    expect((await receiver.peer.answer(7)).status).toBe(STATUS.ESME_RINVBNDSTS);
    const transmitter = await boundTo({}, ID.bind_transmitter);
    transmitter.peer.send(message({}, [], ID.deliver_sm));
    const answer = await transmitter.peer.answer(7);
    // A deliver_sm_resp has no message id.
    expect([answer.status, answer.octets.subarray(16)]).toEqual([0, uint8(0)]);
  });

  it('submit_sm to an ESME gets 0x04', async () => {
    const { peer } = await boundAs('transceiver');
    peer.send(message());
    expect((await peer.answer(7)).status).toBe(STATUS.ESME_RINVBNDSTS);
  });

  it('an unknown command gets generic_nack 0x03 with its sequence number, an unsupported one its own response', async () => {
    const { peer } = await boundTo();
    peer.send(pdu(0x777, 41), pdu(ID.submit_multi, 42), enquireLink(43));
    for (const [sequence, id] of [
      [41, ID.generic_nack],
      [42, RESP + ID.submit_multi],
    ] as const) {
      const answer = await peer.answer(sequence);
      expect([answer.id, answer.status]).toEqual([id, STATUS.ESME_RINVCMDID]);
    }
    expect((await peer.answer(43)).status).toBe(0);
  });

  it('a command_length outside its limits gets generic_nack 0x02 with sequence 0, then the connection closes', async () => {
    const { peer } = await boundTo();
    peer.send(uint8(0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 7));
    const answer = await peer.answer(0);
    expect([answer.id, answer.status]).toEqual([ID.generic_nack, STATUS.ESME_RINVCMDLEN]);
    await peer.closed();
  });

  it('the handler gets the octets of a message unchanged', async () => {
    const seen: MessagePdu[] = [];
    const { peer } = await boundTo({ onMessage: (pdu) => (seen.push(pdu), OK) });
    peer.send(message());
    await peer.answer(7);
    expect(seen).toMatchObject([{ command: 'submit_sm', fields: { shortMessage: Buffer.from(TEXT) } }]);
  });

  it('a handler that throws, rejects or returns an invalid answer gives ESME_RSYSERR', async () => {
    const answers = [
      () => {
        throw new Error('broken');
      },
      () => Promise.reject(new Error('broken')),
      () => Promise.resolve({ status: 0, messageId: 'x'.repeat(65) }),
      () => ({ status: Number.NaN }),
    ];
    const { peer } = await boundTo({ onMessage: () => answers.shift()?.() ?? OK });
    for (const sequence of [11, 12, 13, 14]) {
      peer.send(message({}, [], ID.submit_sm, sequence));
      expect((await peer.answer(sequence)).status).toBe(STATUS.ESME_RSYSERR);
    }
    peer.send(message({}, [], ID.submit_sm, 15));
    expect((await peer.answer(15)).status).toBe(0);
  });
});

describe('our requests', () => {
  it('never exceed the window, and are answered in any order', async () => {
    const { link, peer } = await boundAs('transceiver', { window: 2 });
    const answers = [1, 2, 3].map(() => link.request(submitSm({ shortMessage: Buffer.from('x') })));
    const first = await peer.request(ID.submit_sm);
    const second = await peer.request(ID.submit_sm);
    expect(link.windowUsed).toBe(2);
    peer.send(enquireLink(900));
    await peer.answer(900);
    peer.send(pdu(RESP + ID.submit_sm, second.sequence, [cstring('b')]));
    const third = await peer.request(ID.submit_sm);
    peer.send(pdu(RESP + ID.submit_sm, third.sequence, [cstring('c')]));
    peer.send(pdu(RESP + ID.submit_sm, first.sequence, [], STATUS.ESME_RTHROTTLED));
    const settled = await Promise.all(answers);
    expect(settled.map((a) => a.status)).toEqual([STATUS.ESME_RTHROTTLED, 0, 0]);
    expect([first.sequence, second.sequence, third.sequence]).toEqual([2, 3, 4]);
  });

  it('follow a changed window on the live link: a wider one at once, a narrower one as responses arrive', async () => {
    const { link, peer } = await boundAs('transceiver', { window: 1 });
    const requests = Array.from({ length: 5 }, () => link.request(submitSm({ shortMessage: Buffer.from('x') })));
    const sent = [await peer.request(ID.submit_sm)];
    const answerNext = (): void => {
      const request = sent.shift();
      if (request !== undefined) peer.send(pdu(RESP + ID.submit_sm, request.sequence, [cstring('a')]));
    };
    link.setWindow(3);
    sent.push(await peer.request(ID.submit_sm), await peer.request(ID.submit_sm));
    expect(link.windowUsed).toBe(3);
    link.setWindow(1);
    answerNext();
    answerNext();
    await Promise.all(requests.slice(0, 2));
    expect(link.windowUsed).toBe(1);
    answerNext();
    sent.push(await peer.request(ID.submit_sm));
    expect(link.windowUsed).toBe(1);
    answerNext();
    sent.push(await peer.request(ID.submit_sm));
    answerNext();
    await Promise.all(requests);
    for (const window of [0, 1.5, Number.NaN]) expect(() => link.setWindow(window)).toThrow(RangeError);
  });

  it('are not resolved by the response of another command', async () => {
    const { link, peer } = await boundAs('transceiver');
    const answer = link.request(submitSm({}));
    const { sequence } = await peer.request(ID.submit_sm);
    peer.send(pdu(RESP + ID.deliver_sm, sequence, [uint8(0)]), enquireLink(901));
    await peer.answer(901);
    expect(link.windowUsed).toBe(1);
    peer.send(pdu(ID.generic_nack, sequence, [], STATUS.ESME_RINVCMDID));
    expect((await answer).status).toBe(STATUS.ESME_RINVCMDID);
  });

  it('reject with an unknown outcome when the response is missing or unreadable, or the link closes', async () => {
    const { link, peer } = await boundAs('transceiver', { timers: { ...PATIENT, responseMs: 50 } });
    await expect(link.request(submitSm({}))).rejects.toBeInstanceOf(ResponseTimeoutError);
    await peer.request(ID.submit_sm);
    const unreadable = link.request(submitSm({}));
    const { sequence } = await peer.request(ID.submit_sm);
    peer.send(pdu(RESP + ID.submit_sm, sequence, [Buffer.alloc(80, 65)]));
    await expect(unreadable).rejects.toBeInstanceOf(UnreadableResponseError);
    const open = [link.request(submitSm({})), link.request(submitSm({}))];
    peer.socket.destroy();
    for (const request of open) await expect(request).rejects.toBeInstanceOf(LinkClosedError);
    expect(link.state).toBe('closed');
  });

  it('are rejected as not sent when the link cannot send them', async () => {
    const { link } = await boundAs('receiver');
    await expect(link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
    const sender = await boundAs('transmitter', { window: 1, maxWaiting: 1 });
    const invalid = submitSm({ sourceAddress: { ton: 5, npi: 0, value: '1'.repeat(21) } });
    await expect(sender.link.request(invalid)).rejects.toBeInstanceOf(NotSentError);
    const held = [sender.link.request(submitSm({})), sender.link.request(submitSm({}))];
    await expect(sender.link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
    sender.link.destroy('enough');
    await expect(held[0]).rejects.toBeInstanceOf(LinkClosedError);
    await expect(held[1]).rejects.toBeInstanceOf(NotSentError);
    await expect(sender.link.request(submitSm({}))).rejects.toBeInstanceOf(NotSentError);
  });

  it('have no TLV for a peer that supports none: optional ones are dropped, a text or its place in a TLV is rejected', async () => {
    const vendor = [{ tag: 0x1400, value: Buffer.from('x') }];
    const strict = await boundAs('transceiver', { assumeTlvs: false }, []);
    const answer = strict.link.request(submitSm({ shortMessage: Buffer.from('x') }, vendor));
    const sent = await strict.peer.request(ID.submit_sm);
    expect(sent.octets.includes(Buffer.from([0x14, 0x00, 0x00, 0x01]))).toBe(false);
    strict.peer.send(pdu(RESP + ID.submit_sm, sent.sequence, [cstring('1')]));
    expect((await answer).status).toBe(0);
    const payload = submitSm({}, [octetsTlv('message_payload', Buffer.from('long'))]);
    await expect(strict.link.request(payload)).rejects.toBeInstanceOf(NotSentError);
    const part = submitSm({ shortMessage: Buffer.from('x') }, [integerTlv('sar_msg_ref_num', 1)]);
    await expect(strict.link.request(part)).rejects.toBeInstanceOf(NotSentError);
    const lenient = await boundAs('transceiver', {}, []);
    lenient.link.request(submitSm({}, vendor)).catch(() => undefined);
    expect((await lenient.peer.request(ID.submit_sm)).octets.includes(Buffer.from([0x14, 0, 0, 1]))).toBe(true);
  });

  it('a refused bind is a value, and the link closes', async () => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme' }));
    const bound = link.bind({ bindType: 'transceiver', ...CREDENTIALS });
    const { sequence } = await peer.request(ID.bind_transceiver);
    peer.send(pdu(RESP + ID.bind_transceiver, sequence, [], STATUS.ESME_RINVPASWD));
    expect(await bound).toEqual({ status: STATUS.ESME_RINVPASWD, systemId: '' });
    expect((await link.closed).reason).toContain('ESME_RINVPASWD');
  });

  it('a deliver_sm right behind the bind response is handled', async () => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme' }));
    const bound = link.bind({ bindType: 'receiver', ...CREDENTIALS });
    await peer.request(ID.bind_receiver);
    peer.send(pdu(RESP + ID.bind_receiver, 1, [cstring('smsc')]), message({}, [], ID.deliver_sm));
    expect((await peer.answer(7)).status).toBe(0);
    expect((await bound).systemId).toBe('smsc');
  });
});

describe('the socket', () => {
  it('gets the answers of one event loop turn in one write, without the delay of small segments', async () => {
    const { near, far } = await loopback.sockets();
    const noDelay = vi.spyOn(near, 'setNoDelay');
    const write = vi.spyOn(near, 'write');
    const link = new SmppLink(near, linkOptions({ maxInbound: 100 }));
    const peer = new RawPeer(far);
    peer.send(bind());
    await peer.answer(1);
    write.mockClear();
    peer.send(...Array.from({ length: 100 }, (_, i) => message({}, [], ID.submit_sm, 100 + i)));
    for (let i = 0; i < 100; i++) await peer.answer(100 + i);
    expect(write.mock.calls.length).toBeLessThanOrEqual(2);
    expect(noDelay).toHaveBeenCalledWith(true);
    link.destroy('done');
    await link.closed;
  });

  it('onPdu gets every PDU once, including refusals; an exception in it breaks nothing', async () => {
    const seen: string[] = [];
    const onPdu = (direction: 'in' | 'out', { command, status }: Pdu): void => {
      seen.push(`${direction} ${command} ${status}`);
      throw new Error('listener');
    };
    const { link, peer } = await boundTo({ onPdu }, ID.bind_receiver);
    peer.send(message(), pdu(0x777, 8), enquireLink(9));
    await peer.answer(9);
    expect(seen).toEqual([
      'in bind_receiver 0',
      'out bind_receiver_resp 0',
      'in submit_sm 0',
      'out submit_sm_resp 4',
      'out generic_nack 3',
      'in enquire_link 0',
      'out enquire_link_resp 0',
    ]);
    expect(link.state).toBe('bound_rx');
  });
});

describe('two links', () => {
  it('bind, exchange messages in both directions and unbind in order', async () => {
    const states: LinkState[] = [];
    const { smsc, esme } = await loopback.links(
      linkOptions(),
      linkOptions({ role: 'esme', onChange: (state) => states.push(state) }),
    );
    expect(await esme.bind({ bindType: 'transceiver', ...CREDENTIALS })).toEqual({ status: 0, systemId: 'gateway' });
    const up = await esme.request(submitSm({ shortMessage: Buffer.from('up') }));
    expect(up.command === 'submit_sm_resp' && up.fields.messageId).toBe('id-1');
    const down = await smsc.request(deliverSm({ shortMessage: Buffer.from('down') }));
    expect(down.status).toBe(0);
    await esme.unbind();
    expect(states).toEqual(['binding', 'bound_trx', 'unbinding', 'closed']);
    expect([(await smsc.closed).reason, (await esme.closed).reason]).toEqual(['the peer unbound', 'unbound']);
    expect([smsc.lastError, esme.lastError]).toEqual([null, null]);
  });
});
