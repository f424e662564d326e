import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import smpp from 'smpp';
import type { PDU, Session } from 'smpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messageOctets } from '../messages/message-text.js';
import { deliverSm, submitSm } from '../pdu/pdu.js';
import type { MessagePdu } from '../pdu/pdu.js';
import { integerTlv, textTlv } from '../pdu/tlv.js';
import { linkOptions } from './raw-peer.fixture.js';
import { SmppLink } from './smpp-link.js';

const NUMBER = { ton: 1, npi: 1, value: '15551230001' };

describe('npm smpp as an ESME against our SMSC role', () => {
  const texts: string[] = [];
  let link: SmppLink | null = null;
  const server = createServer((socket) => {
    link = new SmppLink(
      socket,
      linkOptions({
        onMessage: (pdu: MessagePdu) => {
          texts.push(messageOctets(pdu).octets.toString('latin1'));
          return { status: 0, messageId: `id-${texts.length}` };
        },
      }),
    );
  });
  let session: Session;
  const send = (pdu: PDU): Promise<PDU> => new Promise((resolve) => session.send(pdu, resolve));

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    session = smpp.connect({ host: '127.0.0.1', port });
    await once(session, 'connect');
  });
  afterAll(async () => {
    session.destroy();
    await link?.closed;
    server.close();
  });

  it('binds, and receives our version', async () => {
    const answer = await send(
      new smpp.PDU('bind_transceiver', { system_id: 'esme', password: 'secret', interface_version: 0x34 }),
    );
    expect(answer).toMatchObject({ command_status: 0, system_id: 'gateway', sc_interface_version: 0x34 });
  });

  it('sends submit_sm and deliver_sm, each answered by its own response', async () => {
    const values = { source_addr: '15551230001', destination_addr: '15559870002', data_coding: 0 };
    const submitted = await send(new smpp.PDU('submit_sm', { ...values, short_message: 'AUTH-ACME-1' }));
    expect(submitted).toMatchObject({ command: 'submit_sm_resp', command_status: 0, message_id: 'id-1' });
    const delivered = await send(new smpp.PDU('deliver_sm', { ...values, short_message: 'AUTH-ACME-2' }));
    expect(delivered).toMatchObject({ command: 'deliver_sm_resp', command_status: 0, message_id: '' });
    const long = await send(new smpp.PDU('data_sm', { ...values, message_payload: Buffer.alloc(9_000, 65) }));
    expect(long).toMatchObject({ command: 'data_sm_resp', message_id: 'id-3' });
    expect(texts).toEqual(['AUTH-ACME-1', 'AUTH-ACME-2', 'A'.repeat(9_000)]);
  });

  it('receives a deliver_sm with its TLVs', async () => {
    session.on('deliver_sm', (pdu) => session.send(pdu.response()));
    const received = once(session, 'deliver_sm') as Promise<[PDU]>;
    const answer = link?.request(
      deliverSm({ sourceAddress: NUMBER, esmClass: 4, shortMessage: Buffer.from('id:1 stat:DELIVRD') }, [
        textTlv('receipted_message_id', 'ABC123'),
        integerTlv('message_state', 2),
      ]),
    );
    const [pdu] = await received;
    expect(pdu).toMatchObject({ source_addr: NUMBER.value, receipted_message_id: 'ABC123', message_state: 2 });
    expect(await answer).toMatchObject({ command: 'deliver_sm_resp', status: 0 });
  });

  it('a thousand messages at once are all answered, in batches', async () => {
    const answers = Array.from({ length: 1_000 }, () =>
      send(new smpp.PDU('submit_sm', { short_message: Buffer.from('x') })),
    );
    const statuses = new Set((await Promise.all(answers)).map((pdu) => pdu.command_status));
    expect([...statuses]).toEqual([0]);
  });

  it('enquires and unbinds', async () => {
    expect((await send(new smpp.PDU('enquire_link'))).command).toBe('enquire_link_resp');
    expect((await send(new smpp.PDU('unbind'))).command).toBe('unbind_resp');
    expect((await link?.closed)?.reason).toBe('the peer unbound');
  });
});

describe('our ESME role against npm smpp as an SMSC', () => {
  const sessions: Session[] = [];
  const server = smpp.createServer((session) => {
    sessions.push(session);
    session.on('error', () => undefined);
    session.on('bind_transceiver', (pdu) =>
      session.send(
        pdu.response(pdu.password === 'secret' ? { system_id: 'npm' } : { command_status: smpp.errors.ESME_RINVPASWD }),
      ),
    );
    for (const command of ['submit_sm', 'unbind', 'enquire_link'] as const) {
      session.on(command, (pdu) => session.send(pdu.response(command === 'submit_sm' ? { message_id: 'm1' } : {})));
    }
  });
  let port = 0;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = server.address().port;
  });
  afterAll(async () => {
    for (const session of sessions) session.destroy();
    server.close();
    await once(server, 'close');
  });
  const open = (): SmppLink => new SmppLink(connect(port, '127.0.0.1'), linkOptions({ role: 'esme' }));
  const call = { bindType: 'transceiver', systemId: 'esme', password: 'secret' } as const;

  it('binds, submits, answers a deliver_sm, enquires and unbinds', async () => {
    const link = open();
    expect(await link.bind(call)).toEqual({ status: 0, systemId: 'npm' });
    const answers = Array.from({ length: 100 }, () =>
      link.request(submitSm({ destinationAddress: NUMBER, shortMessage: Buffer.from('123456 is your code') })),
    );
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ command: 'submit_sm_resp', status: 0, fields: { messageId: 'm1' } });
    }
    const delivered = new Promise<PDU>((resolve) =>
      sessions.at(-1)?.send(new smpp.PDU('deliver_sm', { source_addr: NUMBER.value, short_message: 'AUTH' }), resolve),
    );
    expect(await delivered).toMatchObject({ command: 'deliver_sm_resp', command_status: 0 });
    const alive = await link.request({ command: 'enquire_link', status: 0, fields: {}, tlvs: [] });
    expect(alive.command).toBe('enquire_link_resp');
    await link.unbind();
    expect((await link.closed).reason).toBe('unbound');
  });

  it('returns a refusal', async () => {
    const link = open();
    expect(await link.bind({ ...call, password: 'wrong' })).toMatchObject({ status: smpp.errors.ESME_RINVPASWD });
    await link.closed;
    expect(link.lastError).toContain('ESME_RINVPASWD');
  });

  it('a refused connection rejects like any other close', async () => {
    const gone = createServer();
    gone.listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port: unused } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const link = new SmppLink(connect(unused, '127.0.0.1'), linkOptions({ role: 'esme' }));
    await expect(link.bind(call)).rejects.toThrow('ECONNREFUSED');
    expect((await link.closed).reason).toContain('ECONNREFUSED');
  });
});
