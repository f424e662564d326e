import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import type { MessageAnswer } from './link-options.js';
import { ID, RESP, bind, cstring, enquireLink, message, pdu, uint8 } from '../codec/octets.fixture.js';
import type { MessagePdu } from '../pdu/pdu.js';
import { submitSm } from '../pdu/pdu.js';
import { Loopback, PATIENT, linkOptions, type FlatLinkOptions } from './raw-peer.fixture.js';
import type { RawPeer } from './raw-peer.fixture.js';
import type { SmppLink } from './smpp-link.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

async function bound(changed: Partial<FlatLinkOptions>): Promise<{ link: SmppLink; peer: RawPeer }> {
  const pair = await loopback.link(linkOptions(changed));
  pair.peer.send(bind());
  await pair.peer.answer(1);
  return pair;
}

/** A handler whose messages the test answers explicitly. */
function heldMessages() {
  const held: { pdu: MessagePdu; answer: (answer: MessageAnswer) => void }[] = [];
  let wake = (): void => undefined;
  const onMessage = (pdu: MessagePdu): Promise<MessageAnswer> =>
    new Promise((answer) => {
      held.push({ pdu, answer });
      wake();
    });
  const arrived = async (count: number): Promise<void> => {
    while (held.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { held, onMessage, arrived };
}
const OK: MessageAnswer = { status: STATUS.ESME_ROK };

describe('every state has a timer', () => {
  it('a connection that never binds is closed, whatever it sends', async () => {
    const { link, peer } = await loopback.link(linkOptions({ timers: { ...PATIENT, sessionInitMs: 60 } }));
    for (let sequence = 1; sequence <= 16; sequence++) {
      peer.send(enquireLink(sequence));
      await peer.answer(sequence);
    }
    expect((await link.closed).reason).toContain('session-init');
  });

  it('a bind whose authentication never ends is closed by the same timer', async () => {
    const timers = { ...PATIENT, sessionInitMs: 60 };
    const { link, peer } = await loopback.link(
      linkOptions({ timers, authenticate: () => new Promise(() => undefined) }),
    );
    peer.send(bind(), bind(ID.bind_receiver, {}, 2), message());
    expect((await peer.answer(2)).status).toBe(STATUS.ESME_RALYBND);
    expect((await peer.answer(7)).status).toBe(STATUS.ESME_RINVBNDSTS);
    expect((await link.closed).reason).toContain('session-init');
  });

  it('a PDU that is never completed closes the link', async () => {
    const { link, peer } = await bound({ timers: { ...PATIENT, pduReadMs: 60 } });
    peer.send(message().subarray(0, 30));
    expect((await link.closed).reason).toContain('pdu-read');
  });

  it('an enquire_link without an answer closes the link and rejects its requests', async () => {
    const timers = { ...PATIENT, enquireLinkMs: 40, responseMs: 300 };
    const { link, peer } = await bound({ timers });
    const first = await peer.request(ID.enquire_link);
    peer.send(pdu(RESP + ID.enquire_link, first.sequence));
    await peer.request(ID.enquire_link);
    expect(link.enquireLinkRttMs).toBeGreaterThan(0);
    expect((await link.closed).reason).toContain('dead-link');
  });

  it('a changed timer is effective on a bound link', async () => {
    const { link, peer } = await bound({ timers: { ...PATIENT, enquireLinkMs: 60_000 } });
    link.setTimers({ enquireLinkMs: 40, responseMs: 60 });
    await peer.request(ID.enquire_link);
    expect((await link.closed).reason).toContain('dead-link');
    expect(() => link.setTimers({ responseMs: 0 })).toThrow(RangeError);
  });

  it('an idle link is unbound when the inactivity timer is on; enquire_link does not count', async () => {
    const { link, peer } = await bound({ timers: { ...PATIENT, inactivityMs: 80 } });
    peer.send(enquireLink(5));
    const { sequence } = await peer.request(ID.unbind);
    peer.send(pdu(RESP + ID.unbind, sequence));
    expect((await link.closed).reason).toBe('unbound');
    expect(link.lastError).toContain('inactivity');
  });

  it('a message whose handler never returns gets an error response, and the late result is discarded', async () => {
    const { held, onMessage, arrived } = heldMessages();
    const { peer } = await bound({ timers: { ...PATIENT, responseMs: 60 }, onMessage });
    peer.send(message());
    await arrived(1);
    expect((await peer.answer(7)).status).toBe(STATUS.ESME_RSYSERR);
    held[0]?.answer(OK);
    peer.send(enquireLink(8));
    expect((await peer.receive()) === 'closed').toBe(false);
    peer.socket.end();
    expect(await peer.closed()).toBe(0);
  });

  it('a message whose handler never returns gets the status that makes this peer send again', async () => {
    const { onMessage } = heldMessages();
    const retryableStatus = () => STATUS.ESME_RTHROTTLED;
    const { peer } = await bound({ timers: { ...PATIENT, responseMs: 60 }, onMessage, retryableStatus });
    peer.send(message());
    expect((await peer.answer(7)).status).toBe(STATUS.ESME_RTHROTTLED);
  });
});

describe('back-pressure', () => {
  it('stops reading at maxInbound, still answers the enquire_links already read, and resumes later', async () => {
    const { held, onMessage, arrived } = heldMessages();
    const { peer } = await bound({ maxInbound: 4, onMessage });
    const sequences = Array.from({ length: 10 }, (_, i) => 100 + i);
    peer.send(...sequences.map((sequence) => message({}, [], ID.submit_sm, sequence)), enquireLink(200));
    expect((await peer.answer(200)).status).toBe(0);
    await arrived(4);
    expect(held).toHaveLength(4);
    // Not read: reading from the socket is paused.
    peer.send(enquireLink(201));
    for (let answered = 0; answered < sequences.length; answered++) {
      await arrived(answered + 1);
      expect(held.length - answered).toBeLessThanOrEqual(4);
      held[answered]?.answer(OK);
    }
    for (const sequence of sequences) expect((await peer.answer(sequence)).status).toBe(0);
    expect((await peer.answer(201)).status).toBe(0);
  });

  it('does not read for the time that pauseMs asks for; what was read is handled, and the rest afterwards', async () => {
    const reads: number[] = [];
    let sequences: number[] = [];
    let reading = true;
    const { peer } = await bound({
      onMessage: (pdu) => {
        sequences.push(pdu.sequence);
        return OK;
      },
      pauseMs: () => {
        reads.push(performance.now());
        return reading ? 0 : 200;
      },
    });
    reading = false;
    peer.send(message({}, [], ID.submit_sm, 100), message({}, [], ID.submit_sm, 101));
    expect((await peer.answer(101)).status).toBe(0);
    const pausedMs = reads.at(-1) ?? NaN;
    reading = true;
    sequences = [];
    peer.send(message({}, [], ID.submit_sm, 102), enquireLink(103));
    expect((await peer.answer(103)).status).toBe(0);
    expect(sequences).toEqual([102]);
    expect((reads.at(-1) ?? NaN) - pausedMs).toBeGreaterThanOrEqual(199);
  });

  it('closes while it does not read', async () => {
    let pauseMs = 0;
    const { link, peer } = await bound({ onMessage: () => OK, pauseMs: () => pauseMs });
    pauseMs = 60_000;
    peer.send(message({}, [], ID.submit_sm, 100));
    expect((await peer.answer(100)).status).toBe(0);
    link.destroy('done');
    expect((await link.closed).reason).toBe('done');
  });

  it('handles a hundred messages one at a time without loss', async () => {
    let open = 0;
    const onMessage = async (): Promise<MessageAnswer> => {
      expect(++open).toBe(1);
      await Promise.resolve();
      open--;
      return OK;
    };
    const { peer } = await bound({ maxInbound: 1, onMessage });
    for (let i = 0; i < 100; i++) peer.send(message({}, [], ID.submit_sm, 100 + i));
    for (let i = 0; i < 100; i++) expect((await peer.answer(100 + i)).status).toBe(0);
  });

  it('disconnects a peer that sends requests and never reads', async () => {
    const { link, peer } = await bound({});
    peer.socket.pause();
    const flood = Buffer.concat(Array.from({ length: 1_000 }, (_, i) => message({}, [], ID.submit_sm, i + 1)));
    const pour = (): void => {
      while (!peer.socket.destroyed && peer.socket.write(flood));
    };
    peer.socket.on('drain', pour);
    pour();
    expect((await link.closed).reason).toContain('does not read');
  });
});

describe('parting', () => {
  it('ours: drains the window first, answers messages that still arrive, then unbinds', async () => {
    const { held, onMessage, arrived } = heldMessages();
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme', onMessage }));
    const binding = link.bind({ bindType: 'transceiver', systemId: 'esme', password: 'secret' });
    peer.send(pdu(RESP + ID.bind_transceiver, (await peer.request(ID.bind_transceiver)).sequence, [cstring('smsc')]));
    await binding;
    const request = link.request(submitSm({}));
    const sent = await peer.request(ID.submit_sm);
    const unbound = link.unbind(5_000);
    expect(link.state).toBe('unbinding');
    await expect(link.request(submitSm({}))).rejects.toThrow('unbinding');
    peer.send(message({}, [], ID.deliver_sm, 51), pdu(RESP + ID.submit_sm, sent.sequence, [cstring('1')]));
    expect((await request).status).toBe(0);
    const unbind = await peer.request(ID.unbind);
    peer.send(message({}, [], ID.deliver_sm, 52), pdu(RESP + ID.unbind, unbind.sequence));
    await arrived(2);
    for (const { answer } of held) answer(OK);
    expect((await peer.answer(51)).status).toBe(0);
    expect((await peer.answer(52)).status).toBe(0);
    await unbound;
    expect((await link.closed).reason).toBe('unbound');
  });

  it('ours: closes when the peer does not answer', async () => {
    const { link } = await bound({});
    await link.unbind(40);
    expect((await link.closed).reason).toContain('timed out');
  });

  it("the peer's: answers open requests, refuses new ones, then unbind_resp, then closes", async () => {
    const { held, onMessage, arrived } = heldMessages();
    const { link, peer } = await bound({ onMessage });
    peer.send(message({}, [], ID.submit_sm, 61), pdu(ID.unbind, 62), message({}, [], ID.submit_sm, 63));
    await arrived(1);
    expect((await peer.answer(63)).status).toBe(STATUS.ESME_RINVBNDSTS);
    held[0]?.answer(OK);
    expect((await peer.receive()) !== 'closed').toBe(true);
    const last = await peer.receive();
    expect(last === 'closed' ? last : [last.id, last.sequence]).toEqual([RESP + ID.unbind, 62]);
    await peer.closed();
    expect((await link.closed).reason).toBe('the peer unbound');
    expect(held).toHaveLength(1);
  });

  it('a closed connection rejects every request at once', async () => {
    const { link, peer } = await bound({});
    const request = link.request({ command: 'enquire_link', status: 0, fields: {}, tlvs: [] });
    peer.socket.resetAndDestroy();
    await expect(request).rejects.toThrow('closed before the answer');
    await link.closed;
    expect(link.state).toBe('closed');
  });

  it('a socket that closed before the link was created is noticed', async () => {
    const { near, far } = await loopback.sockets();
    near.destroy();
    far.destroy();
    const { SmppLink: Link } = await import('./smpp-link.js');
    const link = new Link(near, linkOptions());
    expect((await link.closed).reason).toBe('the connection closed');
  });

  it('octets after the close are not read', async () => {
    const { link, peer } = await bound({});
    link.destroy('enough');
    peer.send(uint8(0, 0, 0));
    await link.closed;
    expect(link.lastError).toBe('enough');
  });
});
