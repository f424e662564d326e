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

const recordsIn = (octets: Buffer): number => {
  let records = 0;
  for (let at = 0; at + 5 <= octets.length; at += 5 + octets.readUInt16BE(at + 3)) records += 1;
  return records;
};

/**
 * A TLS server that waits for a request, and from then on sends records without content: NewSessionTickets, or KeyUpdates. Both are
 * handled below HTTP, by the TLS of the client.
 */
export class EmptyRecords {
  /** Octets that the kernel has taken from it, handshakes not counted. */
  sent = 0;
  readonly #sockets = new Set<net.Socket>();
  readonly #server: net.Server;

  constructor(
    kind: 'tickets' | 'key updates',
    certificate: { readonly cert: string; readonly key: string },
    maxOctets: number,
  ) {
    const secureContext = tls.createSecureContext({ ...certificate, ciphers: 'TLS_AES_128_GCM_SHA256' });
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
    const between = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        // After its first flight a server sends under the keys of the application.
        if (received > 1) records += recordsIn(chunk);
        socket.write(chunk, () => done());
      },
    });
    socket.on('data', (chunk) => {
      received += 1;
      between.push(chunk);
    });
    const secured = new tls.TLSSocket(between, { isServer: true, secureContext });
    secured.on('error', () => undefined);
    secured.on('keylog', (line) => {
      const [, found] = /^SERVER_TRAFFIC_SECRET_0 \S+ (\S+)/.exec(line.toString('latin1')) ?? [];
      if (found !== undefined) secret = Buffer.from(found, 'hex');
    });
    secured.once('data', () => setImmediate(() => flood(new RecordWriter(secret, records))));
  }
}
