import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const HEADER_OCTETS = 16;
const RESPONSE_BIT = 0x8000_0000;
const ANSWER_MS = 10_000;

/** A PDU as read from the socket. */
export interface RawPdu {
  readonly id: number;
  readonly status: number;
  readonly sequence: number;
  /** The octets behind the header, in hexadecimal. */
  readonly body: string;
}

/** A PDU of these octets. */
export function rawPdu(id: number, sequence: number, ...body: readonly (Uint8Array | string)[]): Buffer {
  const octets = Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const header = Buffer.alloc(HEADER_OCTETS);
  header.writeUInt32BE(HEADER_OCTETS + octets.length, 0);
  header.writeUInt32BE(id, 4);
  header.writeUInt32BE(sequence, 12);
  return Buffer.concat([header, octets]);
}

/** A peer of the gateway without an SMPP stack: writes any octets, and reads PDUs by command_length only. */
export class RawPeer {
  /** Resolves when the other side has closed, or the connection has failed. */
  readonly ended: Promise<void>;
  readonly #received: RawPdu[] = [];
  #unread = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #hasEnded = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => this.#cut(chunk));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    this.ended = new Promise((resolve) => {
      for (const event of ['end', 'close']) {
        socket.once(event, () => {
          this.#hasEnded = true;
          this.#wake();
          resolve();
        });
      }
    });
  }

  /** Over TLS with `ca`, the PEM of the authority to trust. */
  static async connect(port: number, ca?: string): Promise<RawPeer> {
    const at = { port, host: '127.0.0.1', allowHalfOpen: true };
    const socket = ca === undefined ? connect(at) : connectTls({ ...at, ca });
    const peer = new RawPeer(socket);
    await once(socket, ca === undefined ? 'connect' : 'secureConnect');
    return peer;
  }

  send(...pdus: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(pdus));
  }

  /** Sends FIN: the other side can still answer. */
  end(): void {
    this.socket.end();
  }

  /** Sends a bind with an empty system_type and address_range, and returns its response. */
  bind(systemId: string, password: string, { id = 0x9, version = 0x34 } = {}): Promise<RawPdu> {
    const fields = [`${systemId}\0${password}\0\0`, Uint8Array.of(version, 0, 0), '\0'];
    this.send(rawPdu(id, 1, ...fields));
    return this.answer(1);
  }

  /** The response with this sequence number; rejects when the connection ends without one. */
  answer(sequence: number): Promise<RawPdu> {
    return this.#next(`the answer to ${sequence}`, (pdu) => pdu.id >= RESPONSE_BIT && pdu.sequence === sequence);
  }

  /** The next request of this command_id; rejects when the connection ends without one. */
  request(id: number): Promise<RawPdu> {
    return this.#next(`a request 0x${id.toString(16)}`, (pdu) => pdu.id === id);
  }

  /** The PDUs that were received and not read. */
  get unread(): readonly RawPdu[] {
    return this.#received;
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #next(what: string, fits: (pdu: RawPdu) => boolean): Promise<RawPdu> {
    const deadline = AbortSignal.timeout(ANSWER_MS);
    deadline.addEventListener('abort', () => this.#wake());
    for (;;) {
      const at = this.#received.findIndex(fits);
      const [found] = at === -1 ? [] : this.#received.splice(at, 1);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`the connection ended before ${what}`);
      if (deadline.aborted) throw new Error(`nothing within ${ANSWER_MS} ms: ${what}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #cut(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    while (this.#unread.length >= HEADER_OCTETS && this.#unread.length >= this.#unread.readUInt32BE(0)) {
      const pdu = this.#unread.subarray(0, this.#unread.readUInt32BE(0));
      this.#unread = this.#unread.subarray(pdu.length);
      const [id, status, sequence] = [pdu.readUInt32BE(4), pdu.readUInt32BE(8), pdu.readUInt32BE(12)];
      this.#received.push({ id, status, sequence, body: pdu.subarray(HEADER_OCTETS).toString('hex') });
    }
    this.#wake();
  }
}
