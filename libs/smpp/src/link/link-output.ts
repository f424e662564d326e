import type { Socket } from 'node:net';
import { encodedLength, refusalLength, writePdu, writeRefusal } from '../codec/encode.js';
import type { Refusal } from '../codec/encode.js';
import type { Pdu } from '../pdu/pdu.js';

const LARGEST_CHUNK_OCTETS = 65_536;
const SMALLEST_CHUNK_OCTETS = 256;
/** Maximum unsent output in octets; a peer that leaves more unread is disconnected. */
export const MAX_UNREAD_OUTPUT_OCTETS = 4 * 1024 * 1024;

/**
 * Collects the output of a link during one event loop turn and writes it to the socket at once: one system call for a
 * hundred answers. A chunk passed to the socket is never modified again. While the socket has not sent the chunk before, further
 * output is collected in one chunk: a chunk of one small answer takes twenty times its octets, and a peer that reads nothing is
 * disconnected by octets alone.
 */
export class LinkOutput {
  #chunk: Buffer | null = null;
  #used = 0;
  #nextChunkOctets = SMALLEST_CHUNK_OCTETS;
  #scheduled = false;
  /** Chunks that the socket has not sent yet. */
  #unsent = 0;
  readonly #flushScheduled = (): void => {
    this.#scheduled = false;
    if (this.#unsent === 0) this.flush();
  };
  readonly #onSent = (): void => {
    this.#unsent -= 1;
    if (this.#unsent === 0 && !this.#scheduled) this.flush();
  };

  constructor(
    private readonly socket: Socket,
    private readonly onUnread: () => void,
    /** Called right before octets are written; false discards them and destroys the socket. */
    private readonly mayWrite: () => boolean = () => true,
  ) {}

  /** Returns the number of octets written. Throws InvalidPduError before writing anything. */
  write(pdu: Pdu): number {
    const length = encodedLength(pdu);
    const start = this.#reserve(length);
    if (this.#chunk !== null) writePdu(pdu, length, this.#chunk, start);
    return length;
  }

  /** A view of the last octets written. */
  tail(octets: number): Buffer {
    return this.#chunk?.subarray(this.#used - octets, this.#used) ?? Buffer.alloc(0);
  }

  /** Returns the number of octets written. */
  writeRefusal(refusal: Refusal): number {
    const length = refusalLength(refusal.id);
    const start = this.#reserve(length);
    if (this.#chunk !== null) writeRefusal(refusal, this.#chunk, start, start + length);
    return length;
  }

  flush(): void {
    const chunk = this.#chunk;
    if (chunk === null || this.#used === 0) return;
    this.#chunk = null;
    if (!this.mayWrite()) {
      this.#used = 0;
      this.socket.destroy();
      return;
    }
    if (this.socket.writable) {
      this.#unsent += 1;
      this.socket.write(chunk.subarray(0, this.#used), this.#onSent);
    }
    this.#nextChunkOctets = Math.min(LARGEST_CHUNK_OCTETS, Math.max(SMALLEST_CHUNK_OCTETS, this.#used * 2));
    this.#used = 0;
    if (this.socket.writableLength > MAX_UNREAD_OUTPUT_OCTETS) this.onUnread();
  }

  #reserve(octets: number): number {
    if (this.#chunk !== null && this.#used + octets > this.#chunk.length) this.#growChunk(this.#chunk, octets);
    this.#chunk ??= Buffer.allocUnsafe(Math.max(this.#nextChunkOctets, octets));
    const start = this.#used;
    this.#used += octets;
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flushScheduled);
    }
    return start;
  }

  /** Copies into a larger chunk while the copy is cheaper than a second write. */
  #growChunk(chunk: Buffer, octets: number): void {
    if (this.#used + octets > LARGEST_CHUNK_OCTETS) {
      this.flush();
      return;
    }
    this.#chunk = Buffer.allocUnsafe(Math.max(chunk.length * 2, this.#used + octets));
    chunk.copy(this.#chunk, 0, 0, this.#used);
  }
}
