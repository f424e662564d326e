import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomFillSync,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';

/** What a keyed digest is for. Two labels never share a key, so a digest of one says nothing about another. */
export type DigestLabel =
  | 'api-key'
  | 'token'
  | 'token-digest'
  | 'smpp-password'
  | 'concatenation'
  | 'otp-code'
  | 'otp-counter'
  | 'idempotency'
  | 'card-answer'
  | 'realtime-ticket'
  | 'sender-number';
/** What a sealed value is. A value sealed under one label does not open under another. */
export type SealLabel = 'message-text' | 'webhook-body' | 'webhook-secret' | 'bind-password' | 'idempotent-answer';

const KEY_OCTETS = 32;
const SEAL_VERSION = 1;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const HEADER_OCTETS = 1 + NONCE_OCTETS;
/** Octets that sealing adds to a plaintext: version, nonce and tag. */
export const SEAL_OVERHEAD_OCTETS = HEADER_OCTETS + TAG_OCTETS;

/** A sealed value did not open: cut, altered, of another row, or sealed by another master key. Carries no part of it. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/**
 * The server's own keys, each derived from the one master key by HKDF-SHA256 (RFC 5869, no salt) with the info
 * `countersign/<label>/v1`. Derivation happens once; a digest then costs about 2 µs.
 */
export class ServerKeys {
  private constructor(
    private readonly digestKeys: Readonly<Record<DigestLabel, KeyObject>>,
    private readonly sealKeys: Readonly<Record<SealLabel, KeyObject>>,
  ) {}

  /** Derives all keys. Throws a RangeError unless the master key is 32 octets. */
  static fromMaster(master: Uint8Array): ServerKeys {
    if (master.length !== KEY_OCTETS)
      throw new RangeError(`a master key has ${KEY_OCTETS} octets, not ${master.length}`);
    const derive = (label: DigestLabel | SealLabel): KeyObject =>
      createSecretKey(
        new Uint8Array(hkdfSync('sha256', master, new Uint8Array(0), `countersign/${label}/v1`, KEY_OCTETS)),
      );
    return new ServerKeys(
      {
        'api-key': derive('api-key'),
        token: derive('token'),
        'token-digest': derive('token-digest'),
        'smpp-password': derive('smpp-password'),
        concatenation: derive('concatenation'),
        'otp-code': derive('otp-code'),
        'otp-counter': derive('otp-counter'),
        idempotency: derive('idempotency'),
        'card-answer': derive('card-answer'),
        'realtime-ticket': derive('realtime-ticket'),
        'sender-number': derive('sender-number'),
      },
      {
        'message-text': derive('message-text'),
        'webhook-body': derive('webhook-body'),
        'webhook-secret': derive('webhook-secret'),
        'bind-password': derive('bind-password'),
        'idempotent-answer': derive('idempotent-answer'),
      },
    );
  }

  /** HMAC-SHA256 under the label's key: 32 octets. Text is taken as UTF-8. */
  digest(label: DigestLabel, data: string | Uint8Array): Buffer {
    return createHmac('sha256', this.digestKeys[label]).update(data).digest();
  }

  /**
   * Seals a value so that only this server, for this row, reads it again: `0x01 | nonce 12 | ciphertext | tag 16`,
   * AES-256-GCM. `context` is the row's id; it is authenticated, so a sealed value moved to another row does not open.
   */
  seal(label: SealLabel, plaintext: string | Uint8Array, context: string): Buffer {
    const nonce = newNonce();
    const cipher = createCipheriv('aes-256-gcm', this.contextKey(label, context), nonce, { authTagLength: TAG_OCTETS });
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const data = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
    return Buffer.concat([Buffer.of(SEAL_VERSION), nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  }

  /** The plaintext of what `seal` made with the same label and context; anything else throws SealError. */
  open(label: SealLabel, sealed: Uint8Array, context: string): Buffer {
    if (sealed.length < SEAL_OVERHEAD_OCTETS) throw new SealError('a sealed value is too short to be one');
    if (sealed[0] !== SEAL_VERSION) throw new SealError('a sealed value is of an unknown version');
    const tagStart = sealed.length - TAG_OCTETS;
    const nonce = sealed.subarray(1, HEADER_OCTETS);
    const decipher = createDecipheriv('aes-256-gcm', this.contextKey(label, context), nonce, {
      authTagLength: TAG_OCTETS,
    });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(sealed.subarray(tagStart));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(HEADER_OCTETS, tagStart)), decipher.final()]);
    } catch {
      throw new SealError('a sealed value was altered, moved to another row, or sealed by another master key');
    }
  }

  /**
   * Random 96-bit nonces are good for 2³² messages under one key (NIST SP 800-38D, 8.3), which a busy server reaches
   * within weeks. A key of its own for each row makes that bound unreachable for the price of one HMAC.
   */
  private contextKey(label: SealLabel, context: string): Buffer {
    return createHmac('sha256', this.sealKeys[label]).update(context).digest();
  }
}

/** One call to the random generator serves 340 nonces: the call, not the octets, is what costs (7 µs of 10 for a seal). */
const noncePool = Buffer.alloc(NONCE_OCTETS * 340);
let nonceOctetsUsed = noncePool.length;

/** A view into the pool: used at once and copied into what is sealed, and never handed out twice. */
function newNonce(): Buffer {
  if (nonceOctetsUsed === noncePool.length) {
    randomFillSync(noncePool);
    nonceOctetsUsed = 0;
  }
  nonceOctetsUsed += NONCE_OCTETS;
  return noncePool.subarray(nonceOctetsUsed - NONCE_OCTETS, nonceOctetsUsed);
}

/** Whether two digests are equal, in a time that depends on their length only. False where the lengths differ. */
export function digestsEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
