import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { renderId } from '@countersign/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminCalls } from '../support/admin-calls.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { GatewayBeside } from '../support/gateway-beside.js';
import { PASSWORD, sms } from '../support/gateway-harness.js';
import { until } from '../support/until.js';

const OK = 0;
const BIND_FAILED = 0x0d;
/** The default retryable status of a system. */
const RETRYABLE = 0x14;
const WRONG_PASSWORD = 0x0e;
/** Wrong passwords of a system after which its unknown peers are throttled. */
const MAX_GUESSES = 20;
const BIND_TRANSCEIVER = 0x09;
const SUBMIT_SM = 0x04;
const WITHIN_MS = 20_000;
/** The gateway's time limit for an unbound connection, and more for a slow machine. */
const CUT_WITHIN_MS = 25_000;

let harness: ControlPlaneHarness;
let gateway: GatewayBeside;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
  gateway = await GatewayBeside.start(harness);
  await gateway.system({ systemId: 'victim' });
});
afterAll(async () => {
  await gateway.stop();
  await harness.close();
});

/** The answer to a bind from that loopback address; null when the connection was closed without one. */
async function bindFrom(localAddress: string, password: string, systemId = 'victim'): Promise<number | null> {
  try {
    const esme = await gateway.connectUnbound({ connection: { localAddress } });
    const answer = await esme.bind({ port: gateway.ports.smpp, systemId, password });
    esme.destroy();
    return answer.command_status;
  } catch {
    return null;
  }
}

describe('A22 guessing the password of a system', () => {
  it('A22 of 60 guesses at the same time from one address at most 5 are judged; then the right one comes too late', async () => {
    const guesses = Array.from({ length: 60 }, (_, at) => bindFrom('127.0.0.66', `guess${at}`));
    const answers = await Promise.all(guesses);
    const answered = answers.filter((answer) => answer === WRONG_PASSWORD).length;
    expect(answered).toBeLessThanOrEqual(5);
    expect(answers.filter((answer) => answer === OK)).toEqual([]);
    // Five were judged, even if their connections were closed for newer ones before the answer: the address is locked out.
    expect(await bindFrom('127.0.0.66', PASSWORD)).toBeNull();
    // Guesses of others do not lock out the system's own address.
    expect(await bindFrom('127.0.0.67', PASSWORD)).toBe(OK);
  });

  it('A22 an unknown system_id and a wrong password get the same answers, are counted alike, and lock out alike', async () => {
    await gateway.system({ systemId: 'known', allowedCidrs: ['127.4.0.0/24'] });
    // No other system accepts the address: the new row is read before this bind, because later it would reset failures.
    expect(await bindFrom('127.4.0.9', PASSWORD, 'known')).toBe(OK);
    const all = async (address: string, systemId: string): Promise<(number | null)[]> =>
      Promise.all(Array.from({ length: 5 }, () => bindFrom(address, 'guess', systemId)));
    const [known, unknown] = await Promise.all([all('127.4.0.1', 'known'), all('127.4.0.2', 'nobody')]);
    expect(known).toEqual(Array.from({ length: 5 }, () => WRONG_PASSWORD));
    expect(unknown).toEqual(known);
    for (const address of ['127.4.0.1', '127.4.0.2']) {
      expect(await bindFrom(address, PASSWORD, 'known')).toBeNull();
    }
  });

  /** Binds from that many addresses of a network at once. */
  const bindAll = (network: string, count: number, password: string, systemId: string): Promise<number | null>[] =>
    Array.from({ length: count }, (_, at) => bindFrom(`${network}.${at + 1}`, password, systemId));
  const count = (answers: readonly unknown[], status: number): number =>
    answers.filter((answer) => answer === status).length;
  /** Counts the answers that have this status. */
  const counter = (answers: readonly Promise<unknown>[], status: number): (() => number) => {
    let counted = 0;
    for (const answer of answers) void answer.then((come) => (counted += come === status ? 1 : 0));
    return () => counted;
  };

  it('A22 guesses from inside and outside its networks do not lock out the system that has networks', async () => {
    await gateway.system({ systemId: 'fenced', allowedCidrs: ['127.2.60.0/24'] });
    // The system accepts no other address from here on: the new row is read before this bind, because later it would
    // reset the failures.
    expect(await bindFrom('127.2.60.200', PASSWORD, 'fenced')).toBe(OK);
    const outside = await Promise.all(bindAll('127.0.61', 40, PASSWORD, 'fenced'));
    expect(count(outside, BIND_FAILED)).toBe(40);
    const inside = bindAll('127.2.60', 40, 'guess', 'fenced');
    const wrong = counter(inside, WRONG_PASSWORD);
    // The answers from the twentieth on are delayed by 9 s.
    await until('19 are answered', WITHIN_MS, () => wrong() >= MAX_GUESSES - 1);
    for (const address of ['127.2.60.201', '127.2.60.202', '127.2.60.203']) {
      expect(await bindFrom(address, PASSWORD, 'fenced')).toBe(OK);
    }
    expect(count(await Promise.all(inside), OK)).toBe(0);
  });

  it('A22 guesses from 100 addresses: after 20 the right password is answered late and as wrong, but not where the system was', async () => {
    await gateway.system({ systemId: 'roaming', trustedForMo: false, allowedCidrs: [] });
    // As above, the row is read before this bind.
    expect(await bindFrom('127.3.50.1', PASSWORD, 'roaming')).toBe(OK);
    const guesses = bindAll('127.3.51', 60, 'guess', 'roaming');
    const wrong = counter(guesses, WRONG_PASSWORD);
    await until('19 are answered', WITHIN_MS, () => wrong() >= MAX_GUESSES - 1);
    const inOrder: string[] = [];
    const right = bindAll('127.3.52', 40, PASSWORD, 'roaming').map(async (answer) => {
      if ((await answer) === BIND_FAILED) inOrder.push('refused');
      return answer;
    });
    expect(await bindFrom('127.3.50.1', PASSWORD, 'roaming')).toBe(OK);
    inOrder.push('known');
    expect(count(await Promise.all(guesses), OK)).toBe(0);
    // One password in 10 s is still compared, so that a carrier with a new address can bind.
    expect(wrong()).toBeLessThanOrEqual(MAX_GUESSES + 2);
    expect(count(await Promise.all(right), OK)).toBeLessThanOrEqual(2);
    expect([inOrder[0], inOrder.includes('refused')]).toEqual(['known', true]);
  });

  it('A22 a password is kept as a keyed digest, and never shown again', async () => {
    const admin = new AdminCalls(harness);
    const password = 'k3Vd9qLz';
    const made = await admin.post('smpp-systems', { systemId: 'fresh', password });
    expect(made.status).toBe(201);
    const shown = [
      (await admin.get(`smpp-systems/${String(made.json['id'])}`)).text,
      (await admin.get('smpp-systems')).text,
      await admin.log(),
    ];
    for (const text of shown) expect(text).not.toContain(password);
    const rows = await harness.database.query<{ text: string }>('SELECT t::text AS text FROM smpp_systems AS t');
    const dump = rows.map(({ text }) => text).join('\n');
    for (const secret of [password, PASSWORD]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(Buffer.from(secret).toString('hex'));
    }
  });

  it('A22 the right password from outside the networks of the system is refused', async () => {
    await gateway.system({ systemId: 'home', allowedCidrs: ['127.0.0.64/29'] });
    const codes = await Promise.all([
      bindFrom('127.0.0.99', PASSWORD, 'home'),
      bindFrom('127.0.0.68', PASSWORD, 'home'),
    ]);
    expect(codes[0]).not.toBe(OK);
    expect(codes[1]).toBe(OK);
  });
});

describe('A22 a system that may no longer be connected', () => {
  const REMOVALS: readonly (readonly [what: string, change: object | null, trustedForMo: boolean])[] = [
    ['is disabled', { enabled: false }, true],
    ['is deleted', null, true],
    ['has other networks', { allowedCidrs: ['192.0.2.0/24'] }, true],
    ['has another systemId', { systemId: 'renamed' }, true],
    ['may bind as receiver alone', { bindTypes: ['receiver'] }, true],
    // Its password may have been known to others before.
    ['is trusted from now on', { trustedForMo: true }, false],
  ];

  const storedMessages = async (): Promise<number> => {
    const [row] = await harness.database.query<{ count: number }>('SELECT count(*)::int AS count FROM messages');
    return row?.count ?? 0;
  };

  it.each(REMOVALS)(
    'A22 a system that %s approves and stores nothing once it is unbound, though it ignores the unbind',
    async (what, change, trustedForMo) => {
      const { id } = await gateway.system({ systemId: what.slice(-15), trustedForMo });
      const esme = await gateway.esme(what.slice(-15));
      esme.session.removeAllListeners('unbind');
      const unbound = once(esme.session, 'unbind');
      const { json } = await harness.create();
      const text = decodeURIComponent(String(json['fallbackUri']).split('?body=')[1] ?? '');
      const before = await storedMessages();
      const admin = new AdminCalls(harness);
      const path = `smpp-systems/${renderId('sys', id)}`;
      const { status } = await (change === null ? admin.delete(path) : admin.patch(path, change));
      expect(status).toBe(change === null ? 204 : 200);
      await unbound;
      const { short_message: _text, ...addresses } = sms(text);
      const answers = await Promise.all([
        esme.send('submit_sm', sms(text)),
        esme.send('deliver_sm', sms(text)),
        esme.send('data_sm', { ...addresses, message_payload: text }),
        esme.send('submit_sm', sms('id:7 stat:DELIVRD', { esm_class: 0x04 })),
      ]);
      expect(answers.map(({ command_status }) => command_status)).toEqual(answers.map(() => RETRYABLE));
      expect(await storedMessages()).toBe(before);
      expect((await harness.call(`/v1/verify/${String(json['id'])}`)).json['status']).toBe('pending');
      await esme.closed;
    },
  );
});

describe('A22 the password that the gateway sends to a carrier', () => {
  const STORED = 'st0red77';

  /** A server that keeps the octets it receives. */
  async function listening(): Promise<{ readonly server: Server; readonly port: number; readonly read: () => string }> {
    const octets: Buffer[] = [];
    const server = createServer((socket) =>
      socket.on('error', () => undefined).on('data', (data) => octets.push(data)),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    return { server, port, read: () => Buffer.concat(octets).toString('latin1') };
  }

  it('A22 an operator cannot have it sent to another host, port or over another TLS, unless with a password of their own', async () => {
    const admin = new AdminCalls(harness);
    const operator = await admin.colleague('operator');
    const [carrier, other] = [await listening(), await listening()];
    const bind = { host: '127.0.0.1', port: carrier.port, systemId: 'us', password: STORED };
    const path = `binds/${String((await admin.post('binds', bind)).json['id'])}`;
    await until('the carrier has the password', WITHIN_MS, () => carrier.read().includes(STORED));
    const moved = { host: '127.0.0.1', port: other.port };
    for (const [field, change] of [
      ['host', moved],
      ['hosts', { hosts: [moved] }],
      ['hosts', { hosts: [{ host: '127.0.0.1', port: carrier.port }, moved] }],
      ['tls', { tls: { enabled: true, serverName: 'mine.example' } }],
    ] as const) {
      const answer = await operator.patch(path, change);
      expect([answer.status, answer.code, answer.field]).toEqual([403, 'FORBIDDEN', field]);
    }
    expect((await operator.patch(path, { ...moved, password: 'mine0001' })).status).toBe(200);
    await until('the other host has a bind', WITHIN_MS, () => other.read().includes('mine0001'));
    expect(other.read()).not.toContain(STORED);
    expect((await admin.delete(path)).status).toBe(204);
    for (const { server } of [carrier, other]) server.close();
  });
});

/** A PDU with these four header fields. */
function pdu(
  command: number,
  body: Buffer,
  changes: { readonly length?: number; readonly status?: number } = {},
): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(changes.length ?? 16 + body.length, 0);
  head.writeUInt32BE(command, 4);
  head.writeUInt32BE(changes.status ?? 0, 8);
  head.writeUInt32BE(7, 12);
  return Buffer.concat([head, body]);
}

const bindPdu = (): Buffer =>
  pdu(BIND_TRANSCEIVER, Buffer.concat([Buffer.from(`victim\0${PASSWORD}\0\0`), Buffer.from([0x34, 0, 0, 0])]));

/** A bound connection for raw octets. */
async function boundSocket(): Promise<Socket> {
  const socket = connect(gateway.ports.smpp, '127.0.0.1').on('error', () => undefined);
  socket.write(bindPdu());
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.readUInt32BE(8)).toBe(OK);
  return socket;
}

/** A message up to its text: service type, sender, destination, then eight octets of fields. */
const MESSAGE = Buffer.concat([
  Buffer.from([0, 1, 1]),
  Buffer.from('14155552671\0'),
  Buffer.from([1, 1]),
  Buffer.from('14155550199\0'),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0]),
]);

const BROKEN: readonly (readonly [what: string, octets: Buffer])[] = [
  ['of length 0', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 0 })],
  ['of length 4', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 4 })],
  ['of length 15', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 15 })],
  ['of length 2³¹', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 0x80000000 })],
  ['of length 2³²-1', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 0xffffffff })],
  ['of 1 MiB', pdu(SUBMIT_SM, Buffer.alloc(0), { length: 1024 * 1024 })],
  ['without a body', pdu(SUBMIT_SM, Buffer.alloc(0))],
  ['with texts that do not end', pdu(SUBMIT_SM, Buffer.alloc(200, 'x'))],
  ['with a text longer than itself', pdu(SUBMIT_SM, Buffer.concat([MESSAGE, Buffer.from([255]), Buffer.from('hi')]))],
  [
    'with a TLV longer than itself',
    pdu(SUBMIT_SM, Buffer.concat([MESSAGE, Buffer.from([0]), Buffer.from([0x04, 0x24, 0xff, 0xff, 1])])),
  ],
  ['with half a TLV', pdu(SUBMIT_SM, Buffer.concat([MESSAGE, Buffer.from([0]), Buffer.from([0x04, 0x24, 0])]))],
  ['of an unknown command', pdu(0x0000_7777, Buffer.alloc(4))],
  ['that answers what was never asked', pdu(0x8000_0004, Buffer.from('id\0'))],
];

/** Sends enquire_link; whether the connection answers it, false when it was closed. */
async function livesOrCloses(socket: Socket): Promise<'answers' | 'closed' | 'silent'> {
  const enquire = Buffer.from('00000010000000150000000070707070', 'hex');
  socket.write(enquire);
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve('silent'), CUT_WITHIN_MS);
    const end = (how: 'answers' | 'closed'): void => {
      clearTimeout(late);
      resolve(how);
    };
    socket.on('data', (data: Buffer) => data.includes(Buffer.from('70707070', 'hex')) && end('answers'));
    socket.once('close', () => end('closed'));
    if (socket.destroyed) end('closed');
  });
}

describe('A23 malformed PDUs', () => {
  it.each(BROKEN)(
    'A23 one %s: the connection answers on or is closed, and others are served',
    async (_what, octets) => {
      const socket = await boundSocket();
      socket.write(octets);
      expect(await livesOrCloses(socket)).not.toBe('silent');
      socket.destroy();
      const honest = await gateway.esme('victim');
      expect((await honest.send('submit_sm', sms('hello', { source_addr: '14155550123' }))).command_status).toBe(OK);
      honest.destroy();
      await honest.closed;
    },
  );

  it('A23 sent before a bind, all of them at once, none stores a message or ends the gateway', async () => {
    const count = async (): Promise<number> => {
      const [row] = await harness.database.query<{ count: number }>('SELECT count(*)::int AS count FROM messages');
      return row?.count ?? 0;
    };
    const before = await count();
    const ends = BROKEN.map(async ([, octets], at) => {
      const socket = connect({ port: gateway.ports.smpp, host: '127.0.0.1', localAddress: `127.0.0.${100 + at}` });
      socket.on('error', () => undefined).write(octets);
      const state = await livesOrCloses(socket);
      socket.destroy();
      return state;
    });
    expect(await Promise.all(ends)).not.toContain('silent');
    expect(await count()).toBe(before);
    const honest = await gateway.esme('victim');
    expect((await honest.enquireLink()).command_status).toBe(OK);
  });
});
