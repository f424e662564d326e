import type { Socket } from 'node:net';
import { decodePdu } from '../codec/decode.js';
import type { Refusal } from '../codec/encode.js';
import { RESPONSE_BIT, STATUS, commandId, hasResponse } from '../pdu/dictionary.js';
import type { Pdu } from '../pdu/pdu.js';
import { LinkOutput } from './link-output.js';
import type { LinkTap } from './link-tap.js';
import { LongReads } from './long-reads.js';
import type { PduReader } from './pdu-reader.js';
import { PEER_CLOSED } from './unbind-sequence.js';

/** Time for the peer to read our last PDUs and close; then the socket is destroyed. */
const CLOSE_LINGER_MS = 1_000;
/** A smaller read is not long. */
const MEASURED_OCTETS = 8 * 1024;
/** Every connection of the process shares it. */
const longReads = new LongReads();

/**
 * `half`: the peer closed its sending side, and every PDU that it sent was read; it may still read answers. `flush`:
 * pending output can be sent. `now`: nothing can.
 */
export type SocketEnd = 'half' | 'flush' | 'now';

interface PduSocketOptions {
  readonly reader: PduReader;
  readonly tap: LinkTap;
  /** The peer, the network or a limit ended the connection; call `close`. */
  onBroken(reason: string, how: SocketEnd): void;
  readonly mayWrite: (() => boolean) | undefined;
}

/** Sends and receives PDUs over one socket. Besides LinkOutput, the only file of the engine that uses the socket. */
export class PduSocket {
  /** Resolves when the socket is closed; never rejects. */
  readonly gone: Promise<void>;

  readonly #output: LinkOutput;
  /** Ends the use of the socket: without an end of the socket after `detach`. */
  #leave: () => void = () => undefined;
  #closing = false;
  #detached = false;
  #stopped = false;
  #held = false;
  /** After a long read. */
  #pausing = false;

  constructor(
    private readonly socket: Socket,
    private readonly options: PduSocketOptions,
  ) {
    const onUnread = (): void => options.onBroken('the peer does not read', 'now');
    this.#output = new LinkOutput(socket, onUnread, options.mayWrite);
    socket.setNoDelay(true);
    const onData = (chunk: Buffer): void => this.#read(chunk);
    const onEnd = (): void => options.onBroken(PEER_CLOSED, 'half');
    const onError = (error: NodeJS.ErrnoException): void =>
      // After its FIN the peer may have closed completely; the error of our answer would hide that reason.
      options.onBroken(socket.readableEnded ? PEER_CLOSED : `socket: ${error.code ?? error.name}`, 'now');
    socket.on('data', onData);
    // Otherwise Node closes our side with that of the peer, before the answers are written.
    socket.allowHalfOpen = true;
    socket.on('end', onEnd);
    socket.on('error', onError);
    this.gone = new Promise((resolve) => {
      const gone = (): void => {
        options.onBroken('the connection closed', 'now');
        resolve();
      };
      if (socket.destroyed) setImmediate(gone);
      else socket.once('close', gone);
      this.#leave = () => {
        socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', gone);
        resolve();
      };
    });
  }

  get isReadingStopped(): boolean {
    return this.#stopped;
  }

  /** Throws InvalidPduError, before anything is written, when a field exceeds its limits. */
  send(pdu: Pdu): void {
    if (this.#closing) return;
    const length = this.#output.write(pdu);
    const { tap } = this.options;
    if (tap.takesOctets) tap.octets('out', this.#output.tail(length), pdu.isConfidential);
    tap.pdu('out', pdu);
  }

  /** Answers with the response of the command; with generic_nack when the dictionary has none. */
  refuse(requestId: number, status: number, sequence: number): void {
    const id = hasResponse(requestId) ? requestId + RESPONSE_BIT : commandId('generic_nack');
    this.#sendRefusal({ id, status, sequence });
  }

  /** Back-pressure: further data stays in the peer's and the kernel's buffers. */
  stopReading(): void {
    this.#stopped = true;
    this.socket.pause();
  }

  resumeReading(): void {
    this.#stopped = false;
    if (!this.#pausing) this.socket.resume();
  }

  /** Reads nothing more; call while a PDU is received. The octets behind that PDU are the next that the socket gives. */
  hold(): void {
    this.#held = true;
    this.socket.pause();
    const rest = this.options.reader.takeRest();
    if (rest.length > 0) this.socket.unshift(rest);
  }

  /** Sends pending output and stops using the socket, which stays open and paused; `gone` resolves. */
  detach(): Socket {
    this.#output.flush();
    this.#closing = true;
    this.#detached = true;
    this.#leave();
    return this.socket;
  }

  /** `flush`: pending output is still sent, and the peer gets CLOSE_LINGER_MS to read it. */
  close(how: 'flush' | 'now'): void {
    if (this.#detached) return;
    if (!this.#closing) {
      this.#closing = true;
      this.options.reader.stop();
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
    const startedMs = performance.now();
    try {
      if (this.options.reader.read(chunk)) {
        if (chunk.length >= MEASURED_OCTETS) afterMicrotasks(() => this.#pauseAfterRead(startedMs));
        return;
      }
      this.#sendRefusal({ id: commandId('generic_nack'), status: STATUS.ESME_RINVCMDLEN, sequence: 0 });
      this.options.onBroken('a command_length outside its limits', 'flush');
    } catch (error) {
      // An internal error must close the link: it no longer reads.
      this.options.onBroken(`internal: ${error instanceof Error ? error.message : 'unknown'}`, 'now');
    }
  }

  /** The messages of a read are handled in it, or in the microtasks after it. */
  #pauseAfterRead(startedMs: number): void {
    const ms = longReads.pauseMs(startedMs, performance.now());
    if (ms === 0 || this.#closing) return;
    this.#pausing = true;
    this.socket.pause();
    setTimeout(() => {
      this.#pausing = false;
      if (!this.#stopped && !this.#held) this.socket.resume();
    }, ms);
  }

  #sendRefusal(refusal: Refusal): void {
    if (this.#closing) return;
    const length = this.#output.writeRefusal(refusal);
    const { tap } = this.options;
    if (!tap.takesPdus && !tap.takesOctets) return;
    const octets = this.#output.tail(length);
    tap.octets('out', octets);
    const pdu = decodePdu(octets);
    if (pdu.command !== 'malformed') tap.pdu('out', pdu);
  }
}

/** Calls back once the microtasks that are queued, and those that they queue, have run: before the next read of any socket. */
const afterMicrotasks = (callback: () => void): void => queueMicrotask(() => process.nextTick(callback));
