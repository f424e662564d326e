import { Duplex } from 'node:stream';

/**
 * Octets of a TLS handshake that are received at most: certificates of public authorities have 2 to 6 KiB. OpenSSL itself accepts
 * 100 KiB of certificates, parses each, which is 1.3 MB of memory while the connection is open, and verifies the chain in the
 * main thread, whether or not it leads to an authority: 5 ms for a certificate of 1.3 KB with a large RSA exponent.
 */
export const MAX_HANDSHAKE_OCTETS = 16 * 1024;

/**
 * The octets of a TLS connection, between its TCP socket and OpenSSL, which receives none of a larger handshake. OpenSSL reads a
 * socket without JavaScript, and Node has no setting for the size of a chain; a stream costs 8 µs for a request.
 */
export class HandshakeStream extends Duplex {
  private octets = 0;
  private isComplete = false;

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

  /** The handshake has ended: all further octets pass. */
  complete(): void {
    this.isComplete = true;
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
    this.octets += this.isComplete ? 0 : chunk.length;
    if (this.octets > MAX_HANDSHAKE_OCTETS) this.destroy(new HandshakeTooLarge());
    else if (!this.push(chunk)) this.below.pause();
  }
}

/** The receiver's part of the TLS handshake is larger than `MAX_HANDSHAKE_OCTETS`. */
export class HandshakeTooLarge extends Error {
  override readonly name = 'TlsHandshakeTooLarge';
}
