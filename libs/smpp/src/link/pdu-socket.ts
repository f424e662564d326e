import type { Socket } from 'node:net';
import { HEADER_OCTETS, LIMITS_OF_34, decodePdu } from '../codec/decode.js';
import { RESPONSE_BIT, STATUS, commandId, hasResponse } from '../pdu/dictionary.js';
import { MAX_PDU_OCTETS } from '../codec/encode.js';
import { Framer } from '../codec/framer.js';
import type { MalformedPdu, Pdu } from '../pdu/pdu.js';
import { LinkOutput } from './link-output.js';

/** Largest PDU before the bind, in octets: bounds memory for an unauthenticated peer. */
const MAX_PDU_OCTETS_BEFORE_BIND = 1_000;
/** Time for the peer to read our last PDUs and close; then the socket is destroyed. */
const CLOSE_LINGER_MS = 1_000;

export interface PduSocketOptions {
  onReceived: (pdu: Pdu | MalformedPdu) => void;
  /**
   * One read of the socket was processed; `partial`: it ended inside a PDU, `completed`: it completed at least one.
   */
  onReadDone: (read: { readonly partial: boolean; readonly completed: boolean }) => void;
  /** The peer, the network or a limit ended the connection; call `close`. */
  onBroken: (reason: string, how: 'flush' | 'now') => void;
  onTap: ((direction: 'in' | 'out', pdu: Pdu) => void) | null;
  onOctets: ((direction: 'in' | 'out', octets: Buffer) => void) | null;
  mayWrite: (() => boolean) | undefined;
}

/** Sends and receives PDUs over one socket. Besides LinkOutput, the only file of the engine that uses the socket. */
export class PduSocket {
  /** Resolves when the socket is closed; never rejects. */
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

  /** Call after the bind: allows long messages. */
  raiseLimit(): void {
    this.#framer.limit = MAX_PDU_OCTETS;
  }

  /** Throws InvalidPduError, before anything is written, when a field exceeds its limits. */
  send(pdu: Pdu): void {
    if (this.#closing) return;
    const length = this.#output.write(pdu);
    this.options.onOctets?.('out', this.#output.tail(length));
    this.options.onTap?.('out', pdu);
  }

  /** Answers with the response of the command if it has one; with generic_nack for an unsupported command. */
  refuse(requestId: number, status: number, sequence: number): void {
    const nack = status === STATUS.ESME_RINVCMDID || !hasResponse(requestId);
    this.#sendBare(nack ? commandId('generic_nack') : requestId + RESPONSE_BIT, status, sequence);
  }

  /** Back-pressure: further data stays in the peer's and the kernel's buffers. */
  stopReading(): void {
    this.#stopped = true;
    this.socket.pause();
  }

  resumeReading(): void {
    this.#stopped = false;
    this.socket.resume();
  }

  /** `flush`: pending output is still sent, and the peer gets CLOSE_LINGER_MS to read it. */
  close(how: 'flush' | 'now'): void {
    if (!this.#closing) {
      this.#closing = true;
      this.#output.flush();
      this.socket.end();
      // Keep reading, to receive the peer's FIN and not answer its last octets with a reset.
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
      // An internal error must close the link: it no longer reads.
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
      this.options.onBroken('a command_length outside its limits', 'flush');
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
