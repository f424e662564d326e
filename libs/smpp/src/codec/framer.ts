import { HEADER_OCTETS } from './decode.js';

const LENGTH_OCTETS = 4;
const NOTHING = Buffer.alloc(0);

export type FramerOutcome = 'frame' | 'more' | 'lost';

/**
 * Splits a stream of octets into PDUs by command_length, independent of how the network segments it. A PDU within one
 * read is a view of that read; a PDU split across reads is copied once into its own buffer.
 */
export class Framer {
  /** The PDU found by `next`: `octets` from `start` to `end`, valid until the next call. */
  octets: Buffer = NOTHING;
  start = 0;
  end = 0;
  /**
   * Largest accepted command_length in octets: small before the bind, to bound memory for an unauthenticated peer.
   */
  limit: number;

  #chunk: Buffer = NOTHING;
  #at = 0;
  readonly #head = Buffer.alloc(LENGTH_OCTETS);
  #headFilled = 0;
  #body: Buffer | null = null;
  #bodyFilled = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** A PDU has been received in part. */
  get isPartial(): boolean {
    return this.#headFilled > 0;
  }

  /** Adds octets. Call only after `next` returned `more`: the earlier octets are then consumed. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** The octets behind the PDU found last; they are consumed. Call only after `next` returned `frame`. */
  takeRest(): Buffer {
    const rest = this.#chunk.subarray(this.#at);
    this.#at = this.#chunk.length;
    return rest;
  }

  /** `lost`: a command_length below 16 or above the limit; the rest of the stream cannot be framed. */
  next(): FramerOutcome {
    if (this.#headFilled > 0) return this.#completePartial();
    const available = this.#chunk.length - this.#at;
    if (available < LENGTH_OCTETS) return this.#startPartial(available);
    const length = this.#chunk.readUInt32BE(this.#at);
    if (length < HEADER_OCTETS || length > this.limit) return 'lost';
    if (available < length) {
      this.#startPartial(LENGTH_OCTETS);
      return this.#completePartial();
    }
    return this.#found(this.#chunk, this.#at, (this.#at += length));
  }

  #startPartial(octets: number): FramerOutcome {
    this.#chunk.copy(this.#head, 0, this.#at, this.#at + octets);
    this.#at += octets;
    this.#headFilled = octets;
    return this.#more();
  }

  #completePartial(): FramerOutcome {
    if (this.#headFilled < LENGTH_OCTETS) {
      const wanted = Math.min(this.#chunk.length, this.#at + LENGTH_OCTETS - this.#headFilled);
      this.#headFilled += this.#chunk.copy(this.#head, this.#headFilled, this.#at, wanted);
      this.#at = wanted;
      if (this.#headFilled < LENGTH_OCTETS) return this.#more();
    }
    const body = this.#body ?? this.#startBody();
    if (body === null) return 'lost';
    const wanted = Math.min(this.#chunk.length, this.#at + body.length - this.#bodyFilled);
    this.#bodyFilled += this.#chunk.copy(body, this.#bodyFilled, this.#at, wanted);
    this.#at = wanted;
    if (this.#bodyFilled < body.length) return this.#more();
    this.#headFilled = 0;
    this.#body = null;
    return this.#found(body, 0, body.length);
  }

  #startBody(): Buffer | null {
    const length = this.#head.readUInt32BE(0);
    if (length < HEADER_OCTETS || length > this.limit) return null;
    this.#body = Buffer.allocUnsafe(length);
    this.#bodyFilled = this.#head.copy(this.#body);
    return this.#body;
  }

  #found(octets: Buffer, start: number, end: number): FramerOutcome {
    this.octets = octets;
    this.start = start;
    this.end = end;
    return 'frame';
  }

  /** Releases the consumed chunk, so that an idle link keeps no read buffer alive. */
  #more(): FramerOutcome {
    if (this.#at >= this.#chunk.length) {
      this.#chunk = NOTHING;
      this.#at = 0;
      this.octets = NOTHING;
    }
    return 'more';
  }
}
