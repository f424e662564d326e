import type { Socket } from 'node:net';
import { HEADER_OCTETS, LIMITS_OF_34, decodePdu } from '../codec/decode.js';
import { RESPONSE_BIT, STATUS, commandId, hasResponse } from '../pdu/dictionary.js';
import { MAX_PDU_OCTETS } from '../codec/encode.js';
import { Framer } from '../codec/framer.js';
import type { MalformedPdu, Pdu } from '../pdu/pdu.js';
import { LinkOutput } from './link-output.js';

/** Before the bind no PDU is longer; a stranger cannot make us keep more. In octets. */
const MAX_PDU_OCTETS_BEFORE_BIND = 1_000;
/** After our last word a peer has so long to read it and close; then the socket is destroyed. */
const CLOSE_LINGER_MS = 1_000;

export interface PduSocketOptions {
  onReceived: (pdu: Pdu | MalformedPdu) => void;
  /** One read of the socket was worked through; `partial`: it ends inside a PDU, `completed`: it ended at least one. */
  onReadDone: (read: { readonly partial: boolean; readonly completed: boolean }) => void;
  /** The other side, the network or a limit ended the connection; call `close`. */
  onBroken: (reason: string, how: 'flush' | 'now') => void;
  onTap: ((direction: 'in' | 'out', pdu: Pdu) => void) | null;
  onOctets: ((direction: 'in' | 'out', octets: Buffer) => void) | null;
  mayWrite: (() => boolean) | undefined;
}

/** PDUs in, PDUs out, over one socket: the only file of the engine that touches it besides its output buffer. */
export class PduSocket {
  /** Settles when the socket is gone; never rejects. */
  readonly gone: Promise<void>;
  limits = LIMITS_OF_34;

  readonly #framer = new Framer(MAX_PDU_OCTETS_BEFORE_BIND);
  readonly #output: LinkOutput;
  #closing = false;
  #stopped = false;

  constructor(
    private readonly socket: Socket,
    private readonly options: PduSocketOptions,
  ) {
    const onUnread = (): void => options.onBroken('the peer does not read', 'now');
    this.#output = new LinkOutput(socket, onUnread, options.mayWrite);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('end', () => options.onBroken('the peer closed the connection', 'flush'));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      options.onBroken(`socket: ${error.code ?? error.name}`, 'now'),
    );
    this.gone = new Promise((resolve) => {
      const gone = (): void => {
        options.onBroken('the connection closed', 'now');
        resolve();
      };
      if (socket.destroyed) setImmediate(gone);
      else socket.once('close', gone);
    });
  }

  get isReadingStopped(): boolean {
    return this.#stopped;
  }

  /** After the bind: long messages may come. */
  raiseLimit(): void {
    this.#framer.limit = MAX_PDU_OCTETS;
  }

  /** Throws InvalidPduError, before anything is written, when a field is out of its limits. */
  send(pdu: Pdu): void {
    if (this.#closing) return;
    const length = this.#output.write(pdu);
    this.options.onOctets?.('out', this.#output.tail(length));
    this.options.onTap?.('out', pdu);
  }

  /** Answers in the response of the command where it has one; generic_nack for what is not supported. */
  refuse(requestId: number, status: number, sequence: number): void {
    const nack = status === STATUS.ESME_RINVCMDID || !hasResponse(requestId);
    this.#sendBare(nack ? commandId('generic_nack') : requestId + RESPONSE_BIT, status, sequence);
  }

  /** Back-pressure: what the peer sends stays in its own buffers. */
  stopReading(): void {
    this.#stopped = true;
    this.socket.pause();
  }

  resumeReading(): void {
    this.#stopped = false;
    this.socket.resume();
  }

  /** `flush`: what was said still goes out, the peer gets a moment to read it. */
  close(how: 'flush' | 'now'): void {
    if (!this.#closing) {
      this.#closing = true;
      this.#output.flush();
      this.socket.end();
      // Reads on, to see the peer's end and not to answer its last octets with a reset.
      this.socket.resume();
      const linger = setTimeout(() => this.socket.destroy(), CLOSE_LINGER_MS);
      this.socket.once('close', () => clearTimeout(linger));
    }
    if (how === 'now') this.socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#closing) return;
    try {
      this.#readPdus(chunk);
    } catch (error) {
      // A fault of ours must not leave the peer with a link that is open and deaf.
      this.options.onBroken(`internal: ${error instanceof Error ? error.message : 'unknown'}`, 'now');
    }
  }

  #readPdus(chunk: Buffer): void {
    const framer = this.#framer;
    framer.push(chunk);
    let outcome = framer.next();
    const completed = outcome === 'frame';
    while (outcome === 'frame' && !this.#closing) {
      this.#receive(framer.octets, framer.start, framer.end);
      outcome = framer.next();
    }
    if (this.#closing) return;
    if (outcome === 'lost') {
      this.#sendBare(commandId('generic_nack'), STATUS.ESME_RINVCMDLEN, 0);
      this.options.onBroken('a command_length out of its limits', 'flush');
    } else {
      this.options.onReadDone({ partial: framer.isPartial, completed });
    }
  }

  #receive(octets: Buffer, start: number, end: number): void {
    this.options.onOctets?.('in', octets.subarray(start, end));
    const pdu = decodePdu(octets, start, end, this.limits);
    if (pdu.command !== 'malformed') this.options.onTap?.('in', pdu);
    this.options.onReceived(pdu);
  }

  #sendBare(id: number, status: number, sequence: number): void {
    if (this.#closing) return;
    this.#output.writeBare(id, status, sequence);
    const { onTap, onOctets } = this.options;
    if (onTap === null && onOctets === null) return;
    const octets = this.#output.tail(HEADER_OCTETS);
    onOctets?.('out', octets);
    const pdu = decodePdu(octets);
    if (pdu.command !== 'malformed') onTap?.('out', pdu);
  }
}
