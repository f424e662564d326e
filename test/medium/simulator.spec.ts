import net from 'node:net';
import smpp, { type PDU, type PduValues, type Session } from 'smpp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SmscFaults } from '../../apps/simulator/src/smsc/fault-switches.js';
import { SmscServer } from '../../apps/simulator/src/smsc/smsc.server.js';

const PHONE = { ton: 1, npi: 1, value: '14155552671' };
const SERVICE = { ton: 1, npi: 1, value: '14155550199' };
const CREDENTIALS = { systemId: 'simulator', password: 'secret08' };
/** Short enough for a test, and in the same order as the real ones. */
const LIMITS = { bindWithinMs: 400, pduWithinMs: 200, watchEveryMs: 20 };
const TEXT = 'AUTH-ACME-0123456789ABCDEF\nSend this message to sign in.';

let smsc: SmscServer;
let port: number;
const sessions: Session[] = [];

beforeEach(async () => {
  smsc = new SmscServer({ ...CREDENTIALS, limits: LIMITS, log: () => undefined });
  port = await smsc.listen(0);
});

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await smsc.close();
});

function connect(): Session {
  const session = smpp.connect({ host: '127.0.0.1', port });
  session.on('error', () => undefined);
  sessions.push(session);
  return session;
}

const answer = (send: (onResponse: (response: PDU) => void) => boolean): Promise<PDU> =>
  new Promise((resolve) => send(resolve));

const bindWith = (session: Session, values: PduValues): Promise<PDU> =>
  answer((onResponse) => session.bind_transceiver(values, onResponse));

async function bound(onMessage: (pdu: PDU) => number = () => 0): Promise<Session> {
  const session = connect();
  session.on('deliver_sm', (pdu) => {
    session.send(pdu.response({ command_status: onMessage(pdu) }));
  });
  const { systemId: system_id, password } = CREDENTIALS;
  expect((await bindWith(session, { system_id, password, interface_version: 0x34 })).command_status).toBe(0);
  return session;
}

const closed = (session: Session): Promise<void> => new Promise((resolve) => session.on('close', resolve));

const submit = (session: Session, values: PduValues = {}): Promise<PDU> =>
  answer((onResponse) =>
    session.submit_sm(
      {
        source_addr_ton: 3,
        source_addr: '72345',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: '14155552671',
        data_coding: 0,
        short_message: 'Hello',
        ...values,
      },
      onResponse,
    ),
  );

function textOf(pdu: PDU): unknown {
  const { short_message: content } = pdu;
  return typeof content === 'object' && 'message' in content ? content.message : content;
}

describe('an SMS from a simulated phone', () => {
  it('reaches the bound gateway, and its answer comes back', async () => {
    const seen: PDU[] = [];
    await bound((pdu) => seen.push(pdu) * 0 + 20);
    expect(await smsc.sendMo(PHONE, SERVICE, TEXT)).toBe(20);
    expect(seen[0]).toMatchObject({ source_addr: '14155552671', source_addr_ton: 1, destination_addr: '14155550199' });
    expect(seen.map(textOf)).toEqual([TEXT]);
  });

  it('is UCS-2 where GSM 03.38 lacks a character, and parts with a header where it is long', async () => {
    const seen: PDU[] = [];
    await bound((pdu) => seen.push(pdu) * 0);
    const text = `“${'я'.repeat(99)}”`;
    expect(await smsc.sendMo(PHONE, SERVICE, text)).toBe(0);
    expect(seen).toHaveLength(2);
    expect(seen.map(textOf).join('')).toBe(text);
    expect(seen.map(({ data_coding: coding }) => coding)).toEqual([8, 8]);
    expect(seen.map(({ esm_class: esmClass }) => esmClass)).toEqual([0x40, 0x40]);
  });

  it('cannot be sent before a receiver is bound', async () => {
    await expect(smsc.sendMo(PHONE, SERVICE, TEXT)).rejects.toThrow('no receiver or transceiver is bound yet');
  });

  it('is of unknown fate when the link is lost before the answer', async () => {
    const session = connect();
    const { systemId: system_id, password } = CREDENTIALS;
    await bindWith(session, { system_id, password });
    session.on('deliver_sm', () => smsc.dropLinks());
    await expect(smsc.sendMo(PHONE, SERVICE, TEXT)).rejects.toThrow('dropped by the fault switch');
  });
});

describe('a bind', () => {
  it.each([
    ['with another system_id', { system_id: 'other', password: CREDENTIALS.password }, {}, smpp.errors.ESME_RINVSYSID],
    ['with a wrong password', { system_id: CREDENTIALS.systemId, password: 'x' }, {}, smpp.errors.ESME_RINVPASWD],
    ['while binds are rejected', { system_id: 'any' }, { rejectBind: true }, smpp.errors.ESME_RBINDFAIL],
  ])('%s is refused and the link closed', async (_, values: PduValues, faults: Partial<SmscFaults>, status) => {
    smsc.switches.set(faults);
    const session = connect();
    const gone = closed(session);
    expect((await bindWith(session, values)).command_status).toBe(status);
    await gone;
  });

  it('on a bound link is refused and the link lives', async () => {
    const session = await bound();
    expect((await bindWith(session, { system_id: 'x' })).command_status).toBe(smpp.errors.ESME_RALYBND);
    expect((await submit(session)).command_status).toBe(0);
  });
});

describe('an SMS to a simulated phone', () => {
  it('is answered with an id and can be read by the number it went to', async () => {
    const session = await bound();
    expect((await submit(session)).message_id).toMatch(/^[0-9a-f]{8}$/);
    expect(smsc.mailbox.list('+14155552671')).toMatchObject([{ from: '72345', text: 'Hello', dataCoding: 0 }]);
    expect(smsc.mailbox.list('+14155552672')).toEqual([]);
  });

  it('is refused on a link that has not bound', async () => {
    expect((await submit(connect())).command_status).toBe(smpp.errors.ESME_RINVBNDSTS);
  });

  it('is throttled and then queued full as often as the switches say', async () => {
    const session = await bound();
    smsc.switches.set({ throttleNext: 1, queueFullNext: 1 });
    const statuses = [await submit(session), await submit(session), await submit(session)].map((r) => r.command_status);
    expect(statuses).toEqual([smpp.errors.ESME_RTHROTTLED, smpp.errors.ESME_RMSGQFUL, 0]);
    expect(smsc.mailbox.list(undefined)).toHaveLength(1);
  });

  it.each([true, false])('has its receipt before its answer: %s', async (receiptBeforeResponse) => {
    const order: string[] = [];
    const session = await bound();
    session.on('pdu', (pdu) => order.push(`${pdu.command} ${String(pdu.receipted_message_id ?? pdu.message_id)}`));
    smsc.switches.set({ receipt: 'UNDELIV', receiptBeforeResponse });
    const received = new Promise((resolve) => session.once('deliver_sm', resolve));
    const { message_id: id } = await submit(session, { registered_delivery: 1 });
    await received;
    const inOrder = [`submit_sm_resp ${String(id)}`, `deliver_sm ${String(id)}`];
    expect(order).toEqual(receiptBeforeResponse ? inOrder.reverse() : inOrder);
  });

  it('reaches the phone but is not answered while submits are muted, nor are enquiries when those are', async () => {
    const session = await bound();
    smsc.switches.set({ muteSubmit: true, muteEnquireLink: true });
    const answered: string[] = [];
    session.on('pdu', (pdu) => answered.push(pdu.command));
    void submit(session);
    session.enquire_link({});
    await expect.poll(() => smsc.mailbox.list(undefined)).toHaveLength(1);
    // An answered PDU behind the muted ones shows that they were passed over.
    await bindWith(session, {});
    expect(answered).toEqual(['bind_transceiver_resp']);
  });
});

const header = (length: number, id: number, status = 0, sequence = 1): Buffer => {
  const octets = Buffer.alloc(16);
  for (const [index, value] of [length, id, status, sequence].entries()) octets.writeUInt32BE(value, index * 4);
  return octets;
};

describe('bytes that npm smpp cannot read', () => {
  it.each([
    ['a command_length of 0', Buffer.alloc(64)],
    ['a command_length of 3', header(3, 4)],
    ['a command_length of 8', header(8, 4)],
    ['a command_length of 4 GiB', header(0xffff_ffff, 4)],
    ['a half header', header(16, 4).subarray(0, 7)],
    ['a body that never comes', header(200, 4)],
    ['a cut submit_sm', Buffer.concat([header(20, 4), Buffer.from([0, 1, 1, 49])])],
    ['a TLV longer than the PDU', Buffer.concat([header(22, 0x103), Buffer.from([2, 12, 255, 255, 0, 1])])],
    [
      'a validity period that its filter chokes on',
      Buffer.concat([header(39, 4), Buffer.from('0000000000000000000000000000003552000000000000'.slice(0, 46), 'hex')]),
    ],
    ['an alert_notification', header(16, 0x102)],
    ['an outbind', header(16, 0x0b)],
    ['an unknown command', header(16, 0x77)],
    ['an answer to nothing', header(16, 0x8000_0005)],
  ])('%s ends or keeps that link and harms no other', async (_, octets) => {
    const healthy = await bound();
    const socket = net.connect(port, '127.0.0.1');
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.resume();
    socket.write(octets);
    // Whatever it was: the link either answers an enquiry or is closed, soon or by the watch.
    const alive = new Promise((resolve) => {
      socket.on('data', (data: Buffer) => {
        if (data.includes(header(16, 0x8000_0015, 0, 99))) resolve('alive');
      });
    });
    socket.write(header(16, 0x15, 0, 99));
    await Promise.race([ended, alive]);
    socket.destroy();
    expect((await submit(healthy)).command_status).toBe(0);
  });
});
