import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS } from '../pdu/dictionary.js';
import { InvalidPduError } from '../codec/encode.js';
import { NotSentError } from '../link/link-errors.js';
import type { BindRequest } from '../link/link-options.js';
import { ID, RESP, bind, counted, cstring, enquireLink, message, pdu, tlv, uint8 } from '../codec/octets.fixture.js';
import { dataSm, deliverSm, submitSm, type OutbindFields } from '../pdu/pdu.js';
import { CREDENTIALS, Loopback, PATIENT, linkOptions } from '../link/raw-peer.fixture.js';
import { SmppLink } from '../link/smpp-link.js';
import { octetsTlv } from '../pdu/tlv.js';

let loopback: Loopback;
beforeAll(async () => {
  loopback = await Loopback.open();
});
afterAll(() => loopback.close());

const TYPES = ['transmitter', 'receiver', 'transceiver'] as const;
const STATES = { transmitter: 'bound_tx', receiver: 'bound_rx', transceiver: 'bound_trx' } as const;
const SC_INTERFACE_VERSION = 0x0210;

describe('a bind of each type', () => {
  it.each(TYPES)('as an SMSC: bind_%s gets its own response, with our system_id', async (type) => {
    const id = ID[`bind_${type}`];
    const { link, peer } = await loopback.link(linkOptions());
    peer.send(bind(id, {}, 1));
    const answer = await peer.answer(1);
    expect([answer.id, answer.status]).toEqual([RESP + id, 0]);
    expect(answer.octets.subarray(16, 24)).toEqual(cstring('gateway'));
    expect(link.state).toBe(STATES[type]);
  });

  it.each(TYPES)('as an ESME: bind_%s is sent with sequence number 1 and our version, and binds', async (type) => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme' }));
    const bound = link.bind({ bindType: type, ...CREDENTIALS, systemType: 'OTP', addressRange: '^1555' });
    const sent = await peer.request(ID[`bind_${type}`]);
    expect(sent.sequence).toBe(1);
    expect(sent.octets.subarray(16)).toEqual(
      Buffer.concat([cstring('esme'), cstring('secret'), cstring('OTP'), uint8(0x34, 0, 0), cstring('^1555')]),
    );
    peer.send(pdu(RESP + sent.id, 1, [cstring('smsc')]));
    expect(await bound).toEqual({ status: 0, systemId: 'smsc' });
    expect([link.state, link.bindType, link.systemId]).toEqual([STATES[type], type, 'smsc']);
  });

  it('reaches the authenticator with every field, at its longest', async () => {
    const requested: BindRequest[] = [];
    const parts = {
      systemId: 's'.repeat(15),
      password: 'p'.repeat(8),
      systemType: 't'.repeat(12),
      addressRange: 'r'.repeat(40),
    };
    const authenticate = (request: BindRequest) => {
      requested.push(request);
      return Promise.resolve({ status: 0 });
    };
    await loopback.boundSmsc({ authenticate }, ID.bind_receiver, parts);
    expect(requested).toMatchObject([{ bindType: 'receiver', interfaceVersion: 0x34, ...parts }]);
  });

  it.each([
    ['a system_id of 16', { systemId: 's'.repeat(16) }, STATUS.ESME_RINVSYSID],
    ['a password of 9', { password: 'p'.repeat(9) }, STATUS.ESME_RINVPASWD],
    ['a system_type of 13', { systemType: 't'.repeat(13) }, STATUS.ESME_RINVSYSTYP],
    ['an address_range of 41', { addressRange: 'r'.repeat(41) }, STATUS.ESME_RBINDFAIL],
  ])('with %s characters is refused, and the connection closes', async (_what, parts, status) => {
    const { peer } = await loopback.link(linkOptions());
    peer.send(bind(ID.bind_transceiver, parts));
    const answer = await peer.answer(1);
    expect([answer.status, answer.octets.subarray(16)]).toEqual([status, cstring('')]);
    expect(await peer.closed()).toBe(0);
  });
});

describe('a refused bind', () => {
  const REFUSALS = [
    ['a wrong password', 0x0e],
    ['an unknown system_id', 0x0f],
    ['too many binds', 0x0d],
    ['an account that is bound already', 0x05],
  ] as const;

  it.each(REFUSALS)(
    'as an SMSC, for %s: a response with the status and an empty system_id, then the connection closes',
    async (_why, status) => {
      for (const type of TYPES) {
        const { peer } = await loopback.link(linkOptions({ authenticate: () => Promise.resolve({ status }) }));
        peer.send(bind(ID[`bind_${type}`]));
        const answer = await peer.answer(1);
        expect([answer.id, answer.status]).toEqual([RESP + ID[`bind_${type}`], status]);
        expect(answer.octets.subarray(16)).toEqual(cstring(''));
        await peer.closed();
      }
    },
  );

  it.each(REFUSALS)(
    'as an ESME, for %s, with or without a system_id: the refusal is a value, and the bind is not repeated',
    async (_why, status) => {
      for (const body of [[], [cstring('')], [cstring('smsc')]]) {
        const { link, peer } = await loopback.link(linkOptions({ role: 'esme' }));
        const bound = link.bind({ bindType: 'transceiver', ...CREDENTIALS });
        const { sequence } = await peer.request(ID.bind_transceiver);
        peer.send(pdu(RESP + ID.bind_transceiver, sequence, body, status));
        expect(await bound).toEqual({ status, systemId: '' });
        await link.closed;
        expect(await peer.closed()).toBe(0);
        await expect(link.bind({ bindType: 'transceiver', ...CREDENTIALS })).rejects.toBeInstanceOf(NotSentError);
      }
    },
  );

  it('as an ESME: generic_nack refuses the bind, whatever its status', async () => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme' }));
    const bound = link.bind({ bindType: 'transceiver', ...CREDENTIALS });
    const { sequence } = await peer.request(ID.bind_transceiver);
    peer.send(pdu(ID.generic_nack, sequence));
    expect((await bound).status).toBe(STATUS.ESME_RBINDFAIL);
    await link.closed;
  });

  it('on a bound session gets 0x05, and the session stays open', async () => {
    const { link, peer } = await loopback.boundSmsc();
    for (const [i, type] of TYPES.entries()) {
      peer.send(bind(ID[`bind_${type}`], {}, 10 + i));
      const answer = await peer.answer(10 + i);
      expect([answer.id, answer.status]).toEqual([RESP + ID[`bind_${type}`], STATUS.ESME_RALYBND]);
      expect(answer.octets.subarray(16)).toEqual(cstring(''));
    }
    expect(link.state).toBe('bound_trx');
  });
});

describe('the interface version', () => {
  it.each([
    ['3.4', 0x34, 0x34, 0x34],
    ['5.0', 0x50, 0x50, 0x50],
    ['5.0, at 3.4', 0x50, 0x34, 0x34],
    ['3.4, at 5.0', 0x34, 0x50, 0x34],
    ['one between the two', 0x40, 0x50, 0x34],
    ['a future one', 0x60, 0x50, 0x50],
  ] as const)('as an SMSC: a peer of %s gets the lower one in sc_interface_version', async (...of) => {
    const [, theirs, ours, agreed] = of;
    const { peer } = await loopback.link(linkOptions({ interfaceVersion: ours }));
    peer.send(bind(ID.bind_transceiver, { version: theirs }));
    const answer = await peer.answer(1);
    expect(answer.octets.subarray(24)).toEqual(tlv(SC_INTERFACE_VERSION, uint8(agreed)));
  });

  it.each([0x00, 0x33])('as an SMSC: a peer of 0x%s gets no TLV, and ids of at most 8 octets', async (version) => {
    const onMessage = () => ({ status: 0, messageId: '0123456789ABCDEF' });
    const { link, peer } = await loopback.link(linkOptions({ onMessage }));
    peer.send(bind(ID.bind_transceiver, { version }));
    expect((await peer.answer(1)).octets.subarray(16)).toEqual(cstring('gateway'));
    peer.send(message());
    expect((await peer.answer(7)).octets.subarray(16)).toEqual(cstring('89ABCDEF'));
    const requested = link.request(deliverSm({}, [octetsTlv('network_error_code', uint8(3, 0, 1))]));
    const { sequence, octets } = await peer.request(ID.deliver_sm);
    expect(octets.length).toBe(16 + 17);
    peer.send(pdu(RESP + ID.deliver_sm, sequence, [uint8(0)]));
    await requested;
    await expect(link.request(dataSm({}))).rejects.toThrow('older than SMPP 3.4');
  });

  it('as an ESME: 0x34 by default, 0x50 or 0x33 if configured', async () => {
    for (const interfaceVersion of [0x34, 0x50, 0x33] as const) {
      const { link, peer } = await loopback.link(linkOptions({ role: 'esme', interfaceVersion }));
      link.bind({ bindType: 'transceiver', systemId: '', password: '' }).catch(() => undefined);
      expect((await peer.request(ID.bind_transceiver)).octets[19]).toBe(interfaceVersion);
    }
  });

  it('as an ESME: TLVs after a bind response without sc_interface_version are a setting of the carrier', async () => {
    const vendor = [{ tag: 0x1400, value: Buffer.from('v') }];
    for (const [assumeTlvs, octets] of [
      [true, 16 + 17 + 5],
      [false, 16 + 17],
    ] as const) {
      const { link, peer } = await loopback.boundEsme('transceiver', { assumeTlvs }, []);
      link.request(submitSm({}, vendor)).catch(() => undefined);
      expect((await peer.request(ID.submit_sm)).octets.length).toBe(octets);
    }
  });

  it('as an ESME: a server that declares 3.3 gets no TLV, no message_payload and no data_sm', async () => {
    const { link, peer } = await loopback.boundEsme('transceiver', {}, [tlv(SC_INTERFACE_VERSION, uint8(0x33))]);
    link.request(submitSm({}, [{ tag: 0x1400, value: Buffer.from('v') }])).catch(() => undefined);
    expect((await peer.request(ID.submit_sm)).octets.length).toBe(16 + 17);
    const payload = octetsTlv('message_payload', Buffer.from('long'));
    await expect(link.request(submitSm({}, [payload]))).rejects.toBeInstanceOf(NotSentError);
    await expect(link.request(dataSm({}))).rejects.toBeInstanceOf(NotSentError);
  });

  it('limits a text to 255 octets when both sides use 5.0, else to 254, in and out', async () => {
    const full = message({ text: counted('x'.repeat(255)) });
    const submit = submitSm({ shortMessage: Buffer.alloc(255, 65) });
    for (const [ours, theirs, is255] of [
      [0x34, 0x50, false],
      [0x50, 0x34, false],
      [0x50, 0x50, true],
    ] as const) {
      const server = await loopback.boundSmsc({ interfaceVersion: ours }, ID.bind_transceiver, { version: theirs });
      server.peer.send(full);
      expect((await server.peer.answer(7)).status).toBe(is255 ? 0 : STATUS.ESME_RINVMSGLEN);
      const version = tlv(SC_INTERFACE_VERSION, uint8(theirs));
      const client = await loopback.boundEsme('transceiver', { interfaceVersion: ours }, [version]);
      const sent = client.link.request(submit);
      if (is255) {
        sent.catch(() => undefined);
        expect((await client.peer.request(ID.submit_sm)).octets.length).toBe(16 + 17 + 255);
      } else {
        await expect(sent).rejects.toThrow('short_message is longer than 254 octets');
      }
    }
  });
});

describe('outbind', () => {
  const agreed = { systemId: 'smsc', password: 'come', bind: { bindType: 'receiver', ...CREDENTIALS } } as const;

  it('as an ESME: with the agreed credentials, the bind is sent on the same connection', async () => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme', outbind: agreed }));
    peer.send(pdu(ID.outbind, 1, [cstring('smsc'), cstring('come')]));
    const sent = await peer.request(ID.bind_receiver);
    expect(sent.sequence).toBe(1);
    peer.send(pdu(RESP + ID.bind_receiver, 1, [cstring('smsc')]), message({}, [], ID.deliver_sm));
    expect((await peer.answer(7)).status).toBe(0);
    expect([link.state, link.systemId]).toEqual(['bound_rx', 'smsc']);
  });

  it.each([
    ['a wrong password', 'smsc', 'go'],
    ['a wrong system_id', 'other', 'come'],
    ['neither', '', ''],
  ])('as an ESME: with %s, the connection closes and no bind is sent', async (_what, systemId, password) => {
    const { link, peer } = await loopback.link(linkOptions({ role: 'esme', outbind: agreed }));
    peer.send(pdu(ID.outbind, 1, [cstring(systemId), cstring(password)]));
    expect(await peer.closed()).toBe(0);
    expect((await link.closed).reason).toContain('wrong credentials');
    expect(link.lastError).not.toContain('come');
  });

  it('as an ESME: without an agreement, or after the bind, it is refused and the link stays open', async () => {
    const none = await loopback.link(linkOptions({ role: 'esme' }));
    none.peer.send(pdu(ID.outbind, 5, [cstring('smsc'), cstring('come')]), enquireLink(6));
    const refused = await none.peer.answer(5);
    expect([refused.id, refused.status]).toEqual([ID.generic_nack, STATUS.ESME_RINVBNDSTS]);
    expect((await none.peer.answer(6)).status).toBe(0);
    const bound = await loopback.boundEsme('receiver', { outbind: agreed });
    bound.peer.send(pdu(ID.outbind, 5, [cstring('smsc'), cstring('come')]));
    expect((await bound.peer.answer(5)).status).toBe(STATUS.ESME_RINVBNDSTS);
    expect(bound.link.state).toBe('bound_rx');
  });

  it('as an SMSC: is sent on a connection that we opened, and the bind that follows is authenticated as usual', async () => {
    const { link, peer } = await loopback.link(linkOptions());
    link.outbind({ systemId: 'gateway', password: 'come' });
    const sent = await peer.request(ID.outbind);
    expect([sent.sequence, sent.octets.subarray(16)]).toEqual([
      1,
      Buffer.concat([cstring('gateway'), cstring('come')]),
    ]);
    peer.send(bind(ID.bind_receiver));
    expect((await peer.answer(1)).status).toBe(0);
    expect(link.state).toBe('bound_rx');
    expect(() => link.outbind({ systemId: 'gateway', password: 'come' })).toThrow(NotSentError);
  });

  it('before a bind, as an SMSC that takes it: the socket is released with what follows, for a bind as the ESME', async () => {
    const outbinds: unknown[] = [];
    const { link, peer } = await loopback.link(linkOptions({ onOutbind: (fields) => outbinds.push(fields) }));
    peer.send(enquireLink(1), pdu(ID.outbind, 2, [cstring('smsc'), cstring('come')]), enquireLink(3).subarray(0, 7));
    await expect.poll(() => outbinds).toEqual([{ systemId: 'smsc', password: 'come' }]);
    expect(link.state).toBe('binding');
    const socket = link.releaseSocket();
    expect([link.state, link.lastError, link.releaseSocket()]).toEqual(['closed', null, null]);
    expect((await link.closed).reason).toBe('the socket was released');
    if (socket === null) throw new Error('the socket was not released');
    const esme = new SmppLink(socket, linkOptions({ role: 'esme' }));
    socket.resume();
    const bound = esme.bind({ bindType: 'transceiver', ...CREDENTIALS });
    const sent = await peer.request(ID.bind_transceiver);
    peer.send(enquireLink(3).subarray(7), pdu(RESP + sent.id, sent.sequence, [cstring('smsc')]));
    expect((await bound).status).toBe(0);
    // The answer that was not written yet when the socket was released, and that to a PDU received by both links.
    expect([(await peer.answer(1)).status, (await peer.answer(3)).status]).toEqual([0, 0]);
    peer.send(message({}, [], ID.deliver_sm));
    expect((await peer.answer(7)).status).toBe(0);
    esme.destroy('the test is over');
  });

  it('of two at once, the second is read by nobody until the socket is released, and then refused', async () => {
    const outbinds: unknown[] = [];
    const { link, peer } = await loopback.link(linkOptions({ onOutbind: (fields) => outbinds.push(fields) }));
    const one = pdu(ID.outbind, 2, [cstring('smsc'), cstring('come')]);
    peer.send(one, pdu(ID.outbind, 3, [cstring('smsc'), cstring('come')]));
    await expect.poll(() => outbinds.length).toBe(1);
    const socket = link.releaseSocket();
    if (socket === null) throw new Error('the socket was not released');
    const esme = new SmppLink(socket, linkOptions({ role: 'esme' }));
    esme.bind({ bindType: 'transceiver', ...CREDENTIALS }).catch(() => undefined);
    socket.resume();
    expect((await peer.answer(3)).status).toBe(STATUS.ESME_RINVBNDSTS);
    expect(outbinds).toHaveLength(1);
    esme.destroy('the test is over');
  });

  it('as an SMSC that takes it, after a bind: is refused, and the link stays', async () => {
    const outbinds: unknown[] = [];
    const onOutbind = (fields: unknown): unknown => outbinds.push(fields);
    const { link, peer } = await loopback.boundSmsc({ onOutbind }, ID.bind_transceiver);
    peer.send(pdu(ID.outbind, 5, [cstring('smsc'), cstring('come')]), enquireLink(6));
    expect((await peer.answer(5)).status).toBe(STATUS.ESME_RINVBNDSTS);
    expect((await peer.answer(6)).status).toBe(0);
    expect([link.state, link.releaseSocket(), outbinds]).toEqual(['bound_trx', null, []]);
  });

  it.each([
    ['that is not released within the session-init timer', { ...PATIENT, sessionInitMs: 50 }, () => undefined],
    ['that its owner closes', PATIENT, (link: () => SmppLink) => link().destroy('refused')],
  ])('as an SMSC, a connection %s is closed, and its socket is not released', async (_what, timers, decide) => {
    const onOutbind = (): void => decide(() => opened.link);
    const opened = await loopback.link(linkOptions({ timers, onOutbind }));
    opened.peer.send(pdu(ID.outbind, 2, [cstring('smsc'), cstring('come')]));
    expect(await opened.peer.closed()).toBe(0);
    await opened.link.closed;
    expect(opened.link.releaseSocket()).toBeNull();
  });

  it.each([
    ['a system_id of 16 characters', [cstring('s'.repeat(16)), cstring('come')]],
    ['a password of 9 characters', [cstring('smsc'), cstring('p'.repeat(9))]],
    ['no NUL', [Buffer.from('smsc')]],
    ['no body', []],
  ])('as an SMSC: one with %s is refused, and its owner does not see it', async (_what, body) => {
    const outbinds: unknown[] = [];
    const { peer } = await loopback.link(linkOptions({ onOutbind: (fields) => outbinds.push(fields) }));
    peer.send(pdu(ID.outbind, 5, body), enquireLink(6));
    const refused = await peer.answer(5);
    expect([refused.id, refused.status]).toEqual([ID.generic_nack, STATUS.ESME_RINVBNDSTS]);
    expect((await peer.answer(6)).status).toBe(0);
    expect(outbinds).toEqual([]);
  });

  it('as an SMSC: any body is passed on with fields that fit, or refused, and the link closes when its owner says so', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'Z', '0', ' ', '\0', '\u00ff'), maxLength: 20 });
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.tuple(text, text).map((fields) => Buffer.concat(fields.map(cstring))),
    );
    await fc.assert(
      fc.asyncProperty(body, async (octets) => {
        // Not expect.poll: it would go on after a refusal, and it advances the fake timers of later files.
        let passOn: (fields: OutbindFields) => void = () => undefined;
        const passedOn = new Promise<OutbindFields>((resolve) => (passOn = resolve));
        const { link, peer } = await loopback.link(
          linkOptions({
            onOutbind: (fields) => {
              passOn(fields);
            },
          }),
        );
        peer.send(pdu(ID.outbind, 5, [octets]));
        const taken = await Promise.race([passedOn, peer.receive().then(() => undefined)]);
        expect(link.state).toBe(taken === undefined ? 'open' : 'binding');
        expect((taken?.systemId ?? '').length).toBeLessThanOrEqual(15);
        expect((taken?.password ?? '').length).toBeLessThanOrEqual(8);
        link.destroy('the test is over');
        await link.closed;
      }),
      { numRuns: 50 },
    );
  });

  it('binds two of our links; a field that does not fit is not sent', async () => {
    const { smsc, esme } = await loopback.links(linkOptions(), linkOptions({ role: 'esme', outbind: agreed }));
    expect(() => smsc.outbind({ systemId: 'smsc', password: 'far too long' })).toThrow(InvalidPduError);
    expect(() => esme.outbind({ systemId: 'smsc', password: 'come' })).toThrow(NotSentError);
    smsc.outbind({ systemId: 'smsc', password: 'come' });
    await expect.poll(() => esme.state).toBe('bound_rx');
    expect((await smsc.request(deliverSm({ shortMessage: Buffer.from('x') }))).status).toBe(0);
  });
});
