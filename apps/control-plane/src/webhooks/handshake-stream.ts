import { Duplex } from 'node:stream';

/**
 * Octets of a TLS handshake that are received at most: certificates of public authorities have 2 to 6 KiB. OpenSSL itself accepts
 * 100 KiB of certificates, parses each, which is 1.3 MB of memory while the connection is open, and verifies the chain in the
 * main thread, whether or not it leads to an authority: 5 ms for a certificate of 1.3 KB with a large RSA exponent.
 */
export const MAX_HANDSHAKE_OCTETS = 16 * 1024;
/**
 * Octets after the handshake that no content explains: NewSessionTickets and KeyUpdates, any number of which OpenSSL handles below
 * Node, at some 10 µs for 18 octets. As large as a record of 16 KiB that is not complete yet, and as a handshake.
 */
const MAX_OVERHEAD_OCTETS = 32 * 1024;
/** Octets on the wire that one octet of content explains; a record has 22 octets beside its content. */
const WIRE_OCTETS_OF_ONE = 3;
/** Octets that OpenSSL receives between two checks. */
const CHECKED_OCTETS = 4 * 1024;

/**
 * The octets of a TLS connection, between its TCP socket and OpenSSL, which receives none of a larger handshake, and few of a flood
 * of records without content. OpenSSL reads a socket without JavaScript, and Node has no setting for either; a stream costs 8 µs
 * for a request.
 */
export class HandshakeStream extends Duplex {
  private octets = 0;
  /** The octets of content so far; null until the handshake has ended. */
  private content: (() => number) | null = null;
  private overhead = 0;
  private checkedOctets = 0;
  private checkedContent = 0;

  constructor(private readonly below: Duplex) {
    super();
    below
      .on('data', (chunk: Buffer) => this.receive(chunk))
      .once('end', () => this.push(null))
      .on('error', (error) => this.destroy(error))
      .once('close', () => {
        // After its end, octets may still be on their way to OpenSSL.
        if (!below.readableEnded) this.destroy();
      });
  }

  /** The handshake has ended: further octets pass as long as content explains them. */
  complete(content: () => number): void {
    this.content = content;
    this.checkedOctets = this.octets;
    this.checkedContent = content();
  }

  override _read(): void {
    this.below.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.below.write(chunk, done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.below.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.below.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.below.destroy();
    done(error);
  }

  private receive(chunk: Buffer): void {
    if (this.content === null && this.octets + chunk.length > MAX_HANDSHAKE_OCTETS) {
      this.destroy(new HandshakeTooLarge());
      return;
    }
    for (let at = 0; at < chunk.length && !this.destroyed; at += CHECKED_OCTETS) {
      const part = chunk.subarray(at, at + CHECKED_OCTETS);
      this.octets += part.length;
      if (!this.push(part)) this.below.pause();
      if (this.isFlood()) this.destroy(new RecordsWithoutContent());
    }
  }

  /** Content that was received earlier explains no later flood. */
  private isFlood(): boolean {
    if (this.content === null) return false;
    const [octets, content] = [this.octets - this.readableLength, this.content()];
    const explained = WIRE_OCTETS_OF_ONE * (content - this.checkedContent);
    this.overhead = Math.max(this.overhead + octets - this.checkedOctets - explained, 0);
    this.checkedOctets = octets;
    this.checkedContent = content;
    return this.overhead > MAX_OVERHEAD_OCTETS;
  }
}

/** The receiver's part of the TLS handshake is larger than `MAX_HANDSHAKE_OCTETS`. */
export class HandshakeTooLarge extends Error {
  override readonly name = 'TlsHandshakeTooLarge';
}

/** The receiver sends records without content. */
export class RecordsWithoutContent extends Error {
  override readonly name = 'TlsRecordsWithoutContent';
}
