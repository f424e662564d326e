import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { packSeptets } from '@countersign/text';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Esme } from '../support/esme.js';
import { GatewayHarness, PASSWORD, sms } from '../support/gateway-harness.js';
import { certificate, openTlsGateway } from '../support/tls-gateway.js';
import { until } from '../support/until.js';

const OK = 0;
const BIND_FAILED = 0x0d;
const WRONG_PASSWORD = 0x0e;

let gateway: GatewayHarness;
let ca: string;

beforeAll(async () => {
  const server = await certificate('gateway');
  ca = server.cert;
  gateway = await openTlsGateway(server);
  await gateway.system({ systemId: 'open' });
});
afterAll(() => gateway.close());

/** The command_status of a bind; waits for the close of the connection after a refusal. */
async function bindAnswer(
  systemId: string,
  changes: { password?: string; bind?: 'bind_receiver' } = {},
): Promise<number> {
  const esme = await gateway.connectUnbound();
  const answer = await esme.bind({ port: gateway.ports.smpp, systemId, password: PASSWORD, ...changes });
  if (answer.command_status !== OK) await esme.closed;
  return answer.command_status;
}

describe('a system that connects in', () => {
  it.each(['bind_transmitter', 'bind_receiver', 'bind_transceiver'] as const)('can bind with %s', async (bind) => {
    const esme = await gateway.esme('open', { bind });
    expect((await esme.enquireLink()).command_status).toBe(OK);
    esme.destroy();
  });

  it('gets the status for a wrong password after a second, also for an unknown system_id, and the connection is closed', async () => {
    const startedMs = performance.now();
    const answers = await Promise.all([bindAnswer('nobody'), bindAnswer('open', { password: 'wrong' })]);
    expect(answers).toEqual([WRONG_PASSWORD, WRONG_PASSWORD]);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_000);
  });

  it('is refused when disabled, from another network, without required TLS, or with another bind type', async () => {
    await gateway.system({ systemId: 'off', enabled: false });
    await gateway.system({ systemId: 'elsewhere', allowedCidrs: ['192.0.2.0/24'] });
    await gateway.system({ systemId: 'secure', tlsRequired: true });
    await gateway.system({ systemId: 'sender', bindTypes: ['transmitter'] });
    const answers = await Promise.all([
      bindAnswer('off'),
      bindAnswer('elsewhere'),
      bindAnswer('secure'),
      bindAnswer('sender', { bind: 'bind_receiver' }),
    ]);
    expect(answers).toEqual([BIND_FAILED, BIND_FAILED, BIND_FAILED, BIND_FAILED]);
    expect(await gateway.metric('countersign_smpp_refused_binds_total{refusal="tls_required"')).toBe(1);
  });

  it('is limited to maxConnections, and can bind again when one has ended', async () => {
    await gateway.system({ systemId: 'pair', maxConnections: 2 });
    const [first] = await Promise.all([gateway.esme('pair'), gateway.esme('pair')]);
    expect(await bindAnswer('pair')).toBe(BIND_FAILED);
    first.destroy();
    await first.closed;
    await until('the system can bind again', 5_000, async () => (await bindAnswer('pair')) === OK);
  });

  it('can bind over required TLS from an allowed network', async () => {
    await gateway.system({ systemId: 'careful', tlsRequired: true, allowedCidrs: ['127.0.0.0/16'] });
    const session = await gateway.create();
    const esme = await gateway.esme('careful', { port: gateway.ports.smppTls, ca });
    expect((await esme.send('submit_sm', sms(gateway.textOf(session)))).command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    esme.destroy();
  });

  it('gets an enquire_link after the silence of its row, also when that is changed while it is bound', async () => {
    await gateway.system({ systemId: 'quiet', enquireLinkSeconds: 1 });
    const { id } = await gateway.system({ systemId: 'patient', enquireLinkSeconds: 3_600 });
    const [quiet, patient] = await Promise.all([gateway.esme('quiet'), gateway.esme('patient')]);
    const enquired = (esme: Esme): Promise<unknown> => once(esme.session, 'enquire_link');
    let isEnquired = false;
    const changed = enquired(patient).then(() => (isEnquired = true));
    await enquired(quiet);
    expect(isEnquired).toBe(false);
    await gateway.harness.database.query('UPDATE smpp_systems SET enquire_link_seconds = 1 WHERE id = $1', [id]);
    await changed;
    for (const esme of [quiet, patient]) esme.destroy();
  });

  it('is read by the alphabet of its row', async () => {
    await gateway.system({ systemId: 'packed', defaultAlphabet: 'gsm-packed' });
    const session = await gateway.create();
    const esme = await gateway.esme('packed');
    // Letters, digits and spaces of ASCII have the same values in the GSM alphabet.
    const short_message = packSeptets(Buffer.from(gateway.textOf(session)));
    expect((await esme.send('submit_sm', sms('', { short_message, data_coding: 0 }))).command_status).toBe(OK);
    expect(await gateway.statusOf(session)).toBe('approved');
    esme.destroy();
  });

  it('gets the retryable status of its row while PostgreSQL is unreachable', async () => {
    await gateway.system({ systemId: 'again', retryableMoStatus: 0x64 });
    const esme = await gateway.esme('again');
    await gateway.line.cut();
    expect((await esme.send('submit_sm', sms('hello'))).command_status).toBe(0x64);
    await gateway.line.mend();
    esme.destroy();
  });

  it('cannot use a TLS older than 1.2', async () => {
    const socket = tls.connect({
      ...{ host: '127.0.0.1', port: gateway.ports.smppTls, ca },
      ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    });
    const outcome = await new Promise<string>((resolve) => {
      socket.once('secureConnect', () => resolve('connected'));
      socket.once('error', () => resolve('refused'));
    });
    expect(outcome).toBe('refused');
  });

  it('follows changes of its row: trust withdrawn, system disabled', async () => {
    const { id } = await gateway.system({ systemId: 'watched' });
    const esme = await gateway.esme('watched');
    const { database } = gateway.harness;
    await database.query('UPDATE smpp_systems SET trusted_for_mo = false WHERE id = $1', [id]);
    await until('its MOs are not trusted', 5_000, async () => {
      const session = await gateway.create();
      await esme.send('submit_sm', sms(gateway.textOf(session)));
      return (await gateway.messages()).some(({ linkId, fate }) => linkId === id && fate === 'untrusted');
    });
    await database.query('UPDATE smpp_systems SET enabled = false WHERE id = $1', [id]);
    await esme.closed;
    expect(await bindAnswer('watched')).toBe(BIND_FAILED);
  });

  it('is counted by state, its PDUs by command and status', async () => {
    const esme = await gateway.esme('open');
    expect(await gateway.metric('countersign_smpp_links{side="listener",state="bound_trx"')).toBeGreaterThan(0);
    const counter =
      'countersign_smpp_pdus_total{side="listener",direction="out",command="enquire_link_resp",status="ESME_ROK"';
    const before = await gateway.metric(counter);
    await esme.enquireLink();
    expect(await gateway.metric(counter)).toBe(before + 1);
    esme.destroy();
  });
});

const header = (length: number, command: number, sequence: number): Buffer => {
  const octets = Buffer.alloc(16);
  octets.writeUInt32BE(length, 0);
  octets.writeUInt32BE(command, 4);
  octets.writeUInt32BE(sequence, 12);
  return octets;
};

const HOSTILE: readonly (readonly [string, Buffer])[] = [
  ['a length of zero', header(0, 0x15, 1)],
  ['a length below a header', header(15, 0x15, 1)],
  ['a length of four gigabytes', header(0xffffffff, 0x15, 1)],
  ['an unknown command', header(16, 0x7777, 1)],
  ['a response without a request', header(16, 0x80000004, 99)],
  ['a submit_sm without a body', header(16, 0x04, 2)],
  ['a submit_sm cut in its source address', Buffer.concat([header(20, 0x04, 2), Buffer.from([0, 1, 1, 0x31])])],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n')],
  ['a TLS hello', Buffer.from('16030100ff010000fb0303', 'hex')],
  ['random octets', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 251))],
];

/** Sends octets, then an enquire_link; resolves to whether it was answered or the connection closed. */
function probe(port: number, octets: Buffer): Promise<'answered' | 'closed'> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.write(octets);
      socket.write(header(16, 0x15, 77));
    });
    let answers = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      answers = Buffer.concat([answers, chunk]);
      if (answers.includes(header(16, 0x80000015, 77).subarray(4))) {
        resolve('answered');
        socket.destroy();
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve('closed'));
  });
}

describe('hostile octets', () => {
  it.each(HOSTILE)(
    '%s: the listener answers or closes, and other links keep working',
    async (_, octets) => {
      const steady = await gateway.esme('open');
      expect(['answered', 'closed']).toContain(await probe(gateway.ports.smpp, octets));
      expect((await steady.send('submit_sm', sms('still here'))).command_status).toBe(OK);
      steady.destroy();
    },
    15_000,
  );

  it('after a bind leave the link answering or closed', async () => {
    for (const [, octets] of HOSTILE) {
      const esme = await gateway.esme('open');
      esme.session.socket.write(octets);
      const alive = esme.enquireLink().then(
        () => 'answered',
        () => 'closed',
      );
      expect(['answered', 'closed']).toContain(await alive);
      esme.destroy();
      await esme.closed;
    }
  });

  it('of a silent connection are awaited for at most 10 s', async () => {
    const silent = await Esme.connect({ port: gateway.ports.smpp });
    const startedMs = performance.now();
    await silent.closed;
    expect(performance.now() - startedMs).toBeLessThan(12_000);
  }, 20_000);
});

describe('a flood of connections that do not bind', () => {
  it('does not block binds: the oldest unbound connection is evicted', async () => {
    const steady = await gateway.esme('open');
    const clients = await Promise.all(Array.from({ length: 200 }, () => Esme.connect({ port: gateway.ports.smpp })));
    expect(await bindAnswer('open')).toBe(OK);
    await Promise.race(clients.map(({ closed }) => closed));
    expect(await gateway.metric('countersign_smpp_connections_rejected_total')).toBeGreaterThan(0);
    expect((await steady.send('submit_sm', sms('still here'))).command_status).toBe(OK);
    for (const esme of [...clients, steady]) esme.destroy();
  });
});
