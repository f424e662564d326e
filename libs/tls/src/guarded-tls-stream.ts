import { Duplex } from 'node:stream';

/**
 * Octets of a TLS handshake that are received at most: certificates of public authorities have 2 to 6 KiB. OpenSSL itself accepts
 * 100 KiB of certificates, parses each, which is 1.3 MB of memory while the connection is open, and verifies the chain in the
 * main thread, whether or not it leads to an authority: 5 ms for a certificate of 1.3 KB with a large RSA exponent.
 */
const MAX_HANDSHAKE_OCTETS = 16 * 1024;
/**
 * Octets after the handshake that no content explains: NewSessionTickets and KeyUpdates, any number of which OpenSSL handles below
 * Node, at some 10 µs for 18 octets. As large as a record of 16 KiB that is not complete yet, and as a handshake.
 */
const MAX_OVERHEAD_OCTETS = 32 * 1024;
/**
 * A HelloRequest of TLS 1.2 has four octets, and OpenSSL and Node take 260 µs to refuse the renegotiation that it asks for, also
 * thousands of them in one record. The headers of records are not encrypted: after a server's ChangeCipherSpec only one handshake
 * record follows, its Finished (or in TLS 1.3 its second ServerHello), of less than this.
 */
const MAX_LAST_HANDSHAKE_OCTETS = 256;
const RECORD_HEAD_OCTETS = 5;
const CHANGE_CIPHER_SPEC = 20;
const HANDSHAKE = 22;
/** Octets on the wire that one octet of content explains; a record has 22 octets beside its content. */
const WIRE_OCTETS_OF_ONE = 3;
/** Octets that OpenSSL receives between two checks. */
const CHECKED_OCTETS = 4 * 1024;

/**
 * The octets of a TLS connection, between its TCP socket and OpenSSL, which receives none of a larger handshake, and few of a flood
 * of records without content. OpenSSL reads a socket without JavaScript, and Node has no setting for either; a stream costs 8 µs
 * for a request.
 */
export class GuardedTlsStream extends Duplex {
  private octets = 0;
  /** The octets of content so far; null until the handshake has ended. */
  private content: (() => number) | null = null;
  private overhead = 0;
  private checkedOctets = 0;
  private checkedContent = 0;
  private readonly records = new RecordHeads();

  /** @param maxHandshakeOctets of the peer's part of the handshake */
  constructor(
    private readonly below: Duplex,
    private readonly maxHandshakeOctets = MAX_HANDSHAKE_OCTETS,
  ) {
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
    if (this.content === null && this.octets + chunk.length > this.maxHandshakeOctets) {
      this.destroy(new HandshakeTooLarge());
      return;
    }
    if (this.records.beginUnexpectedHandshake(chunk)) {
      this.destroy(new RecordsWithoutContent());
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

/** Follows the records of a server by their headers. */
class RecordHeads {
  private head: number[] = [];
  /** Octets of the present record that have not been received. */
  private left = 0;
  private isChanged = false;
  private handshakesSince = 0;

  /** Whether a handshake record begins in the next octets that belongs to no first handshake. */
  beginUnexpectedHandshake(octets: Buffer): boolean {
    for (let at = 0; at < octets.length;) {
      if (this.left > 0) {
        const skipped = Math.min(this.left, octets.length - at);
        this.left -= skipped;
        at += skipped;
        continue;
      }
      this.head.push(octets[at] ?? 0);
      at += 1;
      if (this.head.length === RECORD_HEAD_OCTETS && !this.isExpected()) return true;
    }
    return false;
  }

  /** Begins the record whose head is complete. */
  private isExpected(): boolean {
    const [type, , , high = 0, low = 0] = this.head;
    this.head = [];
    this.left = high * 256 + low;
    if (type === CHANGE_CIPHER_SPEC) this.isChanged = true;
    if (type !== HANDSHAKE || !this.isChanged) return true;
    this.handshakesSince += 1;
    return this.handshakesSince === 1 && this.left <= MAX_LAST_HANDSHAKE_OCTETS;
  }
}

/** The peer's part of the TLS handshake is too large. */
export class HandshakeTooLarge extends Error {
  override readonly name = 'TlsHandshakeTooLarge';
}

/** The peer sends records without content, or asks for a renegotiation. */
export class RecordsWithoutContent extends Error {
  override readonly name = 'TlsRecordsWithoutContent';
}
