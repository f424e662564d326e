import { HEADER_OCTETS } from './decode.js';

const LENGTH_OCTETS = 4;
const NOTHING = Buffer.alloc(0);

export type FramerOutcome = 'frame' | 'more' | 'lost';

/**
 * Cuts a stream of octets into PDUs by their command_length, however the network delivers them.
 * A PDU that arrives within one read is a view of it; only one cut by a read is copied, once, into octets of its own.
 */
export class Framer {
  /** The PDU that `next` found: from `start` to `end` in `octets`, valid until the next call. */
  octets: Buffer = NOTHING;
  start = 0;
  end = 0;
  /** Largest command_length accepted, in octets: small before the bind, so that a stranger cannot make us keep much. */
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

  /** Octets of a PDU have come, but not all of it. */
  get isPartial(): boolean {
    return this.#headFilled > 0;
  }

  /** Hands over the next octets. Call only after `next` said `more`: earlier octets are then used up. */
  push(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#at = 0;
  }

  /** `lost`: a command_length below 16 or above the limit; nothing after it can be trusted. */
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

  /** Lets go of what was read, so that an idle link keeps no read buffer alive. */
  #more(): FramerOutcome {
    if (this.#at >= this.#chunk.length) {
      this.#chunk = NOTHING;
      this.#at = 0;
      this.octets = NOTHING;
    }
    return 'more';
  }
}
