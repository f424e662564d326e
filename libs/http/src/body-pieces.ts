import { IncomingMessage } from 'node:http';

/**
 * From this number of pieces on, a body must have MIN_PIECE_OCTETS in each on average. A chunk of twice as many octets is in two
 * pieces at most where a read ends within it.
 */
const MIN_PIECES = 128;
const MIN_PIECE_OCTETS = 32;

/**
 * Whether the pieces of a body are too small: each chunk of `Transfer-Encoding: chunked` (RFC 9112, 7.1) is a callback of the parser,
 * so that 128 KiB in chunks of one octet take 140 ms.
 */
export const isFragmented = (pieces: number, octets: number): boolean =>
  pieces > MIN_PIECES && octets < pieces * MIN_PIECE_OCTETS;

/** The code of a FragmentedBody, as Node's errors have one. */
export const BODY_FRAGMENTED = 'ERR_BODY_FRAGMENTED';

/** Of `fragmented`: the body is in too many pieces. */
export class FragmentedBody extends Error {
  override readonly name = 'FragmentedBody';
  readonly code = BODY_FRAGMENTED;
}

/**
 * A request that emits `fragmented` once, with a FragmentedBody, when its body is in too many pieces: from then on no more of its
 * connection is read. For servers as the option `IncomingMessage`; `boundRequests` listens.
 */
export class WholeBodyRequest extends IncomingMessage {
  #pieces = 0;
  #octets = 0;
  #isFragmented = false;

  /** Called by the parser with each piece, and with null at the end. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) return super.push(null);
    if (this.#isFragmented) return false;
    this.#pieces += 1;
    this.#octets += piece.length;
    if (!isFragmented(this.#pieces, this.#octets)) return super.push(piece);
    this.#isFragmented = true;
    this.emit('fragmented', new FragmentedBody('its pieces are too small'));
    return false;
  }

  /** Would read on. */
  override _read(size: number): void {
    if (!this.#isFragmented) super._read(size);
  }
}
