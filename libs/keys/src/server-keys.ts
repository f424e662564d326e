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

/** Purposes of keyed digests. Each label has its own key, so a digest of one reveals nothing about another. */
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
  | 'console-session'
  | 'console-cookie'
  | 'console-csrf'
  | 'console-sign-in'
  | 'sender-number';
/** Kinds of sealed values. A value sealed under one label does not open under another. */
export type SealLabel =
  | 'message-text'
  | 'webhook-body'
  | 'webhook-secret'
  | 'bind-password'
  | 'bind-client-key'
  | 'outbind-password'
  | 'idempotent-answer'
  | 'trace'
  | 'console-sign-in';

const KEY_OCTETS = 32;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
/** The layout of version 1 of the master key, without a version octet: `0x01 | nonce | ciphertext | tag`. */
const UNVERSIONED = 1;
/** The layout of every other version: `0x02 | version | nonce | ciphertext | tag`. */
const VERSIONED = 2;
const FIRST_VERSION = 1;
/** The version in a sealed value is one octet. */
export const HIGHEST_MASTER_VERSION = 255;
/** Octets that sealing under version 1 adds to a plaintext: layout, nonce and tag. Every other version adds one more. */
export const SEAL_OVERHEAD_OCTETS = 1 + NONCE_OCTETS + TAG_OCTETS;
const CHECK_LABEL = 'key-check';

/**
 * A sealed value could not be opened: truncated, altered, of another row, or sealed with another master key. Contains
 * no part of it.
 */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Versions of the master key, each 32 octets. The first entry is the current version. */
export type MasterKeys = ReadonlyMap<number, Uint8Array>;

/** The keys derived from one version of the master key. */
interface DerivedKeys {
  readonly version: number;
  readonly digestKeys: Readonly<Record<DigestLabel, KeyObject>>;
  readonly sealKeys: Readonly<Record<SealLabel, KeyObject>>;
  readonly checkKey: KeyObject;
}

/**
 * The server's own keys, derived from a ring of master keys by HKDF-SHA256 (RFC 5869, no salt) with the info
 * `countersign/<label>/v1`. Derived once; a digest then costs about 2 µs.
 *
 * The first version of the ring is current. During a rotation, processes whose rings have the same two versions in
 * either order, or only one of them, work on the same rows: `1` beside `1,2`, `1,2` beside `2,1`, `2,1` beside `2`.
 * One process of each pair may lack a version of the other, but each pair shares the version that both write with, or
 * both have both. Two rules follow:
 * - A row that one process writes and another only reads (tokens, codes, tickets, API keys, passwords) is written
 *   under the current version and looked up under all of them: `digest`, then `digests`.
 * - A row on which two concurrent processes must conflict (idempotency keys, parts of a long message, counters) is
 *   locked under all versions, by each of them. With the current version only, `1,2` and `2,1` would not conflict;
 *   with the lowest version only, `2,1` and `2` would not.
 *
 * A value that is derived again later (token, card buttons) keeps its version in its row.
 */
export class ServerKeys {
  /** Derived keys by version, in the order of the ring. */
  private readonly ring: ReadonlyMap<number, DerivedKeys>;
  private readonly first: DerivedKeys;
  private readonly others: readonly DerivedKeys[];

  private constructor(derived: readonly [DerivedKeys, ...DerivedKeys[]]) {
    [this.first, ...this.others] = derived;
    this.ring = new Map(derived.map((keys) => [keys.version, keys]));
  }

  /** A ring of one key, which is version 1. Throws a RangeError unless the master key has 32 octets. */
  static fromMaster(master: Uint8Array): ServerKeys {
    return ServerKeys.fromRing(new Map([[FIRST_VERSION, master]]));
  }

  /** Throws a RangeError for an empty ring, a version that is not from 1 to 255, or a key that has not 32 octets. */
  static fromRing(masters: MasterKeys): ServerKeys {
    const [first, ...others] = [...masters].map(([version, master]) => derivedKeys(version, master));
    if (first === undefined) throw new RangeError('a ring has at least one master key');
    return new ServerKeys([first, ...others]);
  }

  /** The version of new digests and sealed values. */
  get currentVersion(): number {
    return this.first.version;
  }

  /** Whether a value of this version can be opened or derived again. */
  has(version: number): boolean {
    return this.ring.has(version);
  }

  /** All versions, the current one first. */
  get versions(): readonly number[] {
    return [...this.ring.keys()];
  }

  /**
   * HMAC-SHA256 with the label's key: 32 octets. Text is encoded as UTF-8. Throws a SealError for a version not in
   * the ring.
   */
  digest(label: DigestLabel, data: string | Uint8Array, version?: number): Buffer {
    const { digestKeys } = version === undefined ? this.first : this.derived(version);
    return createHmac('sha256', digestKeys[label]).update(data).digest();
  }

  /** The digest under every version, the current one first: to look up rows written under any of them. */
  digests(label: DigestLabel, data: string | Uint8Array): readonly [Buffer, ...Buffer[]] {
    const digest = this.digest(label, data);
    if (this.others.length === 0) return [digest];
    return [digest, ...this.others.map(({ version }) => this.digest(label, data, version))];
  }

  /**
   * Seals a value for one row with AES-256-GCM, in the layout `0x01 | nonce 12 | ciphertext | tag 16` under version
   * 1, which a release without key versions can open too, and `0x02 | version 1 | nonce 12 | ciphertext | tag 16`
   * under any other. `context` is the row's id; it is authenticated, so a sealed value moved to another row does not
   * open.
   */
  seal(label: SealLabel, plaintext: string | Uint8Array, context: string, version?: number): Buffer {
    const keys = version === undefined ? this.first : this.derived(version);
    const nonce = newNonce();
    const key = contextKey(keys, label, context);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_OCTETS });
    cipher.setAAD(Buffer.from(context, 'utf8'));
    const data = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
    const { version: sealedWith } = keys;
    const header = sealedWith === FIRST_VERSION ? Buffer.of(UNVERSIONED) : Buffer.of(VERSIONED, sealedWith);
    return Buffer.concat([header, nonce, cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  }

  /** Opens a value sealed with the same label and context under a version of the ring; else throws SealError. */
  open(label: SealLabel, sealed: Uint8Array, context: string): Buffer {
    const keys = this.derived(sealedVersion(sealed));
    const nonceStart = sealed[0] === UNVERSIONED ? 1 : 2;
    const textStart = nonceStart + NONCE_OCTETS;
    const tagStart = sealed.length - TAG_OCTETS;
    if (tagStart < textStart) throw new SealError('a sealed value is too short');
    const nonce = sealed.subarray(nonceStart, textStart);
    const decipher = createDecipheriv('aes-256-gcm', contextKey(keys, label, context), nonce, {
      authTagLength: TAG_OCTETS,
    });
    decipher.setAAD(Buffer.from(context, 'utf8'));
    decipher.setAuthTag(sealed.subarray(tagStart));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(textStart, tagStart)), decipher.final()]);
    } catch {
      throw new SealError('a sealed value was altered, moved to another row, or sealed with another master key');
    }
  }

  /** A value that identifies this version of the master key: 32 octets that reveal nothing of it. */
  checkValue(version: number): Buffer {
    return createHmac('sha256', this.derived(version).checkKey).update(String(version)).digest();
  }

  private derived(version: number): DerivedKeys {
    const keys = this.ring.get(version);
    if (keys !== undefined) return keys;
    throw new SealError(
      `a value needs version ${version} of the master key, but only ${this.versions.join()} is listed`,
    );
  }
}

function derivedKeys(version: number, master: Uint8Array): DerivedKeys {
  if (!Number.isInteger(version) || version < FIRST_VERSION || version > HIGHEST_MASTER_VERSION) {
    throw new RangeError(`a version of the master key is from 1 to ${HIGHEST_MASTER_VERSION}, not ${version}`);
  }
  if (master.length !== KEY_OCTETS) throw new RangeError(`a master key has ${KEY_OCTETS} octets, not ${master.length}`);
  const derive = (label: DigestLabel | SealLabel | typeof CHECK_LABEL): KeyObject =>
    createSecretKey(
      new Uint8Array(hkdfSync('sha256', master, new Uint8Array(0), `countersign/${label}/v1`, KEY_OCTETS)),
    );
  return {
    version,
    checkKey: derive(CHECK_LABEL),
    digestKeys: {
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
      'console-session': derive('console-session'),
      'console-cookie': derive('console-cookie'),
      'console-csrf': derive('console-csrf'),
      'console-sign-in': derive('console-sign-in'),
      'sender-number': derive('sender-number'),
    },
    sealKeys: {
      'message-text': derive('message-text'),
      'webhook-body': derive('webhook-body'),
      'webhook-secret': derive('webhook-secret'),
      'bind-password': derive('bind-password'),
      'bind-client-key': derive('bind-client-key'),
      'outbind-password': derive('outbind-password'),
      'idempotent-answer': derive('idempotent-answer'),
      trace: derive('trace'),
      'console-sign-in': derive('console-sign-in'),
    },
  };
}

/**
 * The version of the master key with which a value was sealed. Throws a SealError for octets that are not a sealed
 * value.
 */
export function sealedVersion(sealed: Uint8Array): number {
  const [layout, version] = sealed;
  if (layout === UNVERSIONED) return FIRST_VERSION;
  if (layout !== VERSIONED) throw new SealError('a sealed value has an unknown layout');
  // Version 1 has its own layout: a value never has two encodings.
  if (version === undefined || version <= FIRST_VERSION) throw new SealError('a sealed value has no version');
  return version;
}

/**
 * Random 96-bit nonces are safe for 2³² messages per key (NIST SP 800-38D, 8.3), which a busy server reaches within
 * weeks. A separate key per row makes that bound unreachable at the cost of one HMAC.
 */
function contextKey({ sealKeys }: DerivedKeys, label: SealLabel, context: string): Buffer {
  return createHmac('sha256', sealKeys[label]).update(context).digest();
}

/**
 * One call to the random generator provides 340 nonces: the call is expensive, not the octets (7 µs of 10 for a
 * seal).
 */
const noncePool = Buffer.alloc(NONCE_OCTETS * 340);
let nonceOctetsUsed = noncePool.length;

/** A view of the pool: copied into the sealed value at once, and never returned twice. */
function newNonce(): Buffer {
  if (nonceOctetsUsed === noncePool.length) {
    randomFillSync(noncePool);
    nonceOctetsUsed = 0;
  }
  nonceOctetsUsed += NONCE_OCTETS;
  return noncePool.subarray(nonceOctetsUsed - NONCE_OCTETS, nonceOctetsUsed);
}

/** Whether two digests are equal, in a time that depends on their length only. False if the lengths differ. */
export function digestsEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
