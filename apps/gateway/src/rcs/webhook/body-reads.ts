import type { Readable } from 'node:stream';
import { isFragmented } from '@countersign/http';

const FIRST_OCTETS = 4 * 1024;

/** The chunks of the body are too small on average: handling each costs more than its content. */
export class BodyFragmented extends Error {
  override readonly name = 'BodyFragmented';
}

/** The body exceeds its limit. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** The read was evicted by a newer request before its body had arrived. */
export class BodyReadEvicted extends Error {
  override readonly name = 'BodyReadEvicted';
}

/**
 * Reads request bodies, at most `limit` at a time. One more evicts the oldest read: an honest peer sends its body within a
 * round trip, so the oldest is a stalled one.
 *
 * A body is copied into one buffer as it arrives, because a list of chunks of one octet takes a hundred times the memory.
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

/** The octets of a stream up to its end. After a rejection the rest of the stream is read and discarded. */
function collect(stream: Readable, maxOctets: number, evicted: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let octets = Buffer.alloc(0);
    let length = 0;
    let pieces = 0;
    const append = (piece: Buffer): void => {
      pieces += 1;
      if (isFragmented(pieces, length)) fail(new BodyFragmented('its chunks are too small'));
      else if (length + piece.length > maxOctets) fail(new BodyTooLarge(`the body is longer than ${maxOctets} octets`));
      else {
        octets = grown(octets, length, length + piece.length, maxOctets);
        length += piece.copy(octets, length);
      }
    };
    const fail = (error: Error): void => {
      stream.off('data', append).resume();
      octets = Buffer.alloc(0);
      reject(error);
    };
    stream.on('data', append);
    stream.once('end', () => resolve(octets.subarray(0, length)));
    stream.once('error', fail);
    stream.once('close', () => reject(new Error('the connection ended before the body')));
    evicted.addEventListener('abort', () => fail(new BodyReadEvicted('evicted by a newer request')));
  });
}

/** A buffer of at least `needed` octets that begins with the first `used` of this one. Sizes double, so that copies are few. */
function grown(octets: Buffer<ArrayBuffer>, used: number, needed: number, maxOctets: number): Buffer<ArrayBuffer> {
  if (needed <= octets.length) return octets;
  const size = Math.min(maxOctets, Math.max(needed, octets.length * 2, FIRST_OCTETS));
  const larger = Buffer.allocUnsafeSlow(size);
  octets.copy(larger, 0, 0, used);
  return larger;
}
