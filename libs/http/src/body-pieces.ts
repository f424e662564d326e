import { IncomingMessage } from 'node:http';

/** From this number of pieces on, those before must have MIN_PIECE_OCTETS for each on average. */
const MIN_PIECES = 128;
const MIN_PIECE_OCTETS = 64;

/**
 * Whether the pieces of a body are too small: each chunk of `Transfer-Encoding: chunked` (RFC 9112, 7.1) is a callback of the parser,
 * so that 128 KiB in chunks of one octet take 140 ms. A chunk at which a read ends is in two pieces.
 *
 * @param octets of the pieces before the last one
 */
export const isFragmented = (pieces: number, octets: number): boolean =>
  pieces > MIN_PIECES && octets < pieces * MIN_PIECE_OCTETS;

/** The code of a FragmentedBody, as Node's errors have one. */
export const BODY_FRAGMENTED = 'ERR_BODY_FRAGMENTED';

/** The body of a request is in too many pieces. */
export class FragmentedBody extends Error {
  override readonly name = 'FragmentedBody';
  readonly code = BODY_FRAGMENTED;
}

/**
 * A request whose connection is read no further once its body is in too many pieces; its socket then emits `fragmented` with a
 * FragmentedBody. For servers as the option `IncomingMessage`; `boundRequests` listens.
 */
export class WholeBodyRequest extends IncomingMessage {
  #pieces = 0;
  #octets = 0;
  #isFragmented = false;

  /** Called by the parser with each piece, and with null at the end. False stops the reading of the connection. */
  override push(piece: Buffer | null): boolean {
    if (piece === null) return super.push(null);
    if (this.#isFragmented) return false;
    this.#pieces += 1;
    if (isFragmented(this.#pieces, this.#octets)) {
      this.#isFragmented = true;
      this.socket.emit('fragmented', new FragmentedBody('its pieces are too small'));
      return false;
    }
    this.#octets += piece.length;
    return super.push(piece);
  }

  /** Called when the body is consumed; continues the reading of the connection. */
  override _read(size: number): void {
    if (!this.#isFragmented) super._read(size);
  }
}
