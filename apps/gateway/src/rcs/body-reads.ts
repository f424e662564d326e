import type { Readable } from 'node:stream';

const FIRST_OCTETS = 4 * 1024;

/** From so many pieces on, a body must have so many octets in each of them on average. */
const MIN_PIECES = 128;
const MIN_PIECE_OCTETS = 64;

/** The body comes in chunks so small that each costs more than what is in it. */
export class BodyFragmented extends Error {
  override readonly name = 'BodyFragmented';
}

/** The body is longer than it may be. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** Another request took the place of this one, whose body had not arrived yet. */
export class BodyReadEvicted extends Error {
  override readonly name = 'BodyReadEvicted';
}

/**
 * Reads request bodies, at most `limit` at a time. One more evicts the read that has waited longest: a peer that sends
 * its body at once is done within a round trip, a stalled one is the oldest.
 *
 * A body is copied into one buffer as it arrives: kept as the pieces it came in, a body of single octets would hold a
 * hundred times its size.
 */
export class BodyReads {
  /** The reads in flight, the oldest first. */
  readonly #reads = new Set<AbortController>();

  constructor(private readonly limit: number) {}

  get inFlight(): number {
    return this.#reads.size;
  }

  /** Rejects with BodyTooLarge, BodyFragmented, BodyReadEvicted, or an error when the connection ends before the body does. */
  async read(stream: Readable, maxOctets: number): Promise<Buffer> {
    if (this.#reads.size >= this.limit) this.#evictOldest();
    const read = new AbortController();
    this.#reads.add(read);
    try {
      return await collect(stream, maxOctets, read.signal);
    } finally {
      this.#reads.delete(read);
    }
  }

  #evictOldest(): void {
    const [oldest] = this.#reads;
    if (oldest === undefined) return;
    this.#reads.delete(oldest);
    oldest.abort();
  }
}

/** The octets of a stream up to its end. What follows a rejection is read and discarded. */
function collect(stream: Readable, maxOctets: number, evicted: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let octets = Buffer.alloc(0);
    let length = 0;
    let pieces = 0;
    const take = (piece: Buffer): void => {
      pieces += 1;
      if (pieces > MIN_PIECES && length < pieces * MIN_PIECE_OCTETS)
        fail(new BodyFragmented('its chunks are too small'));
      else if (length + piece.length > maxOctets) fail(new BodyTooLarge(`the body is longer than ${maxOctets} octets`));
      else {
        octets = grown(octets, length, length + piece.length, maxOctets);
        length += piece.copy(octets, length);
      }
    };
    const fail = (error: Error): void => {
      stream.off('data', take).resume();
      octets = Buffer.alloc(0);
      reject(error);
    };
    stream.on('data', take);
    stream.once('end', () => resolve(octets.subarray(0, length)));
    stream.once('error', fail);
    stream.once('close', () => reject(new Error('the connection ended before the body')));
    evicted.addEventListener('abort', () => fail(new BodyReadEvicted('a newer request took the place of this one')));
  });
}

/** A buffer with the first `used` octets of this one that holds at least `needed`: doubled, so that copies are few. */
function grown(octets: Buffer<ArrayBuffer>, used: number, needed: number, maxOctets: number): Buffer<ArrayBuffer> {
  if (needed <= octets.length) return octets;
  const size = Math.min(maxOctets, Math.max(needed, octets.length * 2, FIRST_OCTETS));
  const larger = Buffer.allocUnsafeSlow(size);
  octets.copy(larger, 0, 0, used);
  return larger;
}
