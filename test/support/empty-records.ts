import { createCipheriv, createHmac } from 'node:crypto';
import net, { type AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import tls from 'node:tls';

/** Octets of content of one record; a record has 16 KiB at most (RFC 8446, 5.1). */
const RECORD_OCTETS = 16_000;
const APPLICATION_DATA = 23;
const HANDSHAKE = 22;
/** A NewSessionTicket with a ticket of one octet (RFC 8446, 4.6.1). */
const TICKET = Buffer.from([4, 0, 0, 14, 0, 0, 14, 16, 1, 2, 3, 4, 0, 0, 1, 65, 0, 0]);
const TICKETS = Buffer.concat(Array.from({ length: Math.floor(RECORD_OCTETS / TICKET.length) }, () => TICKET));
/** A KeyUpdate that asks for none in return (RFC 8446, 4.6.3). */
const KEY_UPDATE = Buffer.from([24, 0, 0, 1, 0]);

/** HKDF-Expand-Label without a context (RFC 8446, 7.1), for one block of SHA-256. */
function expandLabel(secret: Buffer, label: string, octets: number): Buffer {
  const full = Buffer.from(`tls13 ${label}`);
  const info = Buffer.concat([Buffer.from([0, octets, full.length]), full, Buffer.from([0, 1])]);
  return createHmac('sha256', secret).update(info).digest().subarray(0, octets);
}

/** Writes the records of a server with TLS_AES_128_GCM_SHA256. */
class RecordWriter {
  constructor(
    private secret: Buffer,
    private sequence: number,
  ) {}

  record(content: Buffer): Buffer {
    const inner = Buffer.concat([content, Buffer.from([HANDSHAKE])]);
    const head = Buffer.from([APPLICATION_DATA, 3, 3, 0, 0]);
    head.writeUInt16BE(inner.length + 16, 3);
    const nonce = Buffer.from(expandLabel(this.secret, 'iv', 12));
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.sequence) >>> 0, 8);
    this.sequence += 1;
    const cipher = createCipheriv('aes-128-gcm', expandLabel(this.secret, 'key', 16), nonce).setAAD(head);
    return Buffer.concat([head, cipher.update(inner), cipher.final(), cipher.getAuthTag()]);
  }

  keyUpdate(): Buffer {
    const record = this.record(KEY_UPDATE);
    this.secret = expandLabel(this.secret, 'traffic upd', 32);
    this.sequence = 0;
    return record;
  }
}

/** HelloRequests, which ask for a renegotiation (RFC 5246, 7.4.1.1). */
const HELLO_REQUESTS = Buffer.alloc(RECORD_OCTETS);

/** PRF of TLS 1.2 with SHA-256 (RFC 5246, 5). */
function prf(secret: Buffer, label: string, seed: Buffer, octets: number): Buffer {
  const hmac = (data: Buffer): Buffer => createHmac('sha256', secret).update(data).digest();
  const full = Buffer.concat([Buffer.from(label), seed]);
  let link: Buffer = full;
  let expanded: Buffer = Buffer.alloc(0);
  while (expanded.length < octets) {
    link = hmac(link);
    expanded = Buffer.concat([expanded, hmac(Buffer.concat([link, full]))]);
  }
  return expanded.subarray(0, octets);
}

/** The first record of a server with TLS 1.2 and AES-128-GCM after its Finished (RFC 5288, 3): HelloRequests. */
function helloRequests(master: Buffer, clientRandom: Buffer, serverRandom: Buffer): Buffer {
  const keys = prf(master, 'key expansion', Buffer.concat([serverRandom, clientRandom]), 40);
  const sequence = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]);
  const head = Buffer.from([HANDSHAKE, 3, 3, 0, 0]);
  head.writeUInt16BE(HELLO_REQUESTS.length, 3);
  const nonce = Buffer.concat([keys.subarray(36, 40), sequence]);
  const cipher = createCipheriv('aes-128-gcm', keys.subarray(16, 32), nonce);
  cipher.setAAD(Buffer.concat([sequence, head]));
  const body = Buffer.concat([sequence, cipher.update(HELLO_REQUESTS), cipher.final(), cipher.getAuthTag()]);
  head.writeUInt16BE(body.length, 3);
  return Buffer.concat([head, body]);
}

/** The random of a ClientHello or ServerHello that begins a connection. */
const randomOf = (octets: Buffer): Buffer => Buffer.from(octets.subarray(11, 43));

const recordsIn = (octets: Buffer): number => {
  let records = 0;
  for (let at = 0; at + 5 <= octets.length; at += 5 + octets.readUInt16BE(at + 3)) records += 1;
  return records;
};

/**
 * A TLS server that waits for a request, and from then on sends records without content: NewSessionTickets, KeyUpdates, or with
 * TLS 1.2 one record of HelloRequests. They are handled below HTTP, by the TLS of the client.
 */
export class EmptyRecords {
  /** Octets that the kernel has taken from it, handshakes not counted. */
  sent = 0;
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;

  constructor(
    kind: 'tickets' | 'key updates' | 'hello requests',
    certificate: { readonly cert: string; readonly key: string },
    maxOctets: number,
  ) {
    const options =
      kind === 'hello requests'
        ? { maxVersion: 'TLSv1.2' as const, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }
        : { ciphers: 'TLS_AES_128_GCM_SHA256' };
    const secureContext = tls.createSecureContext({ ...certificate, ...options });
    this.#server = net.createServer((socket) => {
      this.#sockets.add(socket.on('error', () => undefined));
      this.#serve(socket, secureContext, (writer) => {
        for (let octets = 0; octets < maxOctets;) {
          const record = kind === 'tickets' ? writer.record(TICKETS) : writer.keyUpdate();
          octets += record.length;
          socket.write(record, (error) => (this.sent += error ? 0 : record.length));
        }
      });
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Makes the handshake with the TLS of Node, and writes records of its own afterwards. */
  #serve(socket: net.Socket, secureContext: tls.SecureContext, flood: (writer: RecordWriter) => void): void {
    let received = 0;
    let records = 0;
    let secret = Buffer.alloc(0);
    let master: Buffer | null = null;
    let clientRandom: Buffer | null = null;
    let serverRandom: Buffer | null = null;
    const between = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        // After its first flight a server sends under the keys of the application.
        serverRandom ??= randomOf(chunk);
        if (received > 1) records += recordsIn(chunk);
        socket.write(chunk, () => done());
      },
    });
    socket.on('data', (chunk) => {
      received += 1;
      clientRandom ??= randomOf(chunk);
      between.push(chunk);
    });
    const secured = new tls.TLSSocket(between, { isServer: true, secureContext });
    secured.on('error', () => undefined);
    secured.on('keylog', (line) => {
      const [, label, found = ''] = /^(\S+) \S+ (\S+)/.exec(line.toString('latin1')) ?? [];
      if (label === 'SERVER_TRAFFIC_SECRET_0') secret = Buffer.from(found, 'hex');
      else if (label === 'CLIENT_RANDOM') master = Buffer.from(found, 'hex');
    });
    secured.once('data', () => {
      setImmediate(() => {
        if (master === null || clientRandom === null || serverRandom === null) flood(new RecordWriter(secret, records));
        else socket.write(helloRequests(master, clientRandom, serverRandom));
      });
    });
  }
}
