import { randomBytes } from 'node:crypto';
import type { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { BEGIN_SIGN_IN, DELETE_EXPIRED_SIGN_INS, DELETE_SIGN_INS, TAKE_SIGN_IN } from './begun-sign-in.sql.js';

/** A one-time link of a development run, or a redirection to an OpenID provider. */
export type SignInKind = 'link' | 'oidc';

const TOKEN_OCTETS = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Expired rows that one begin deletes. */
const MAX_PURGED = 1_000;

interface NewSignIn {
  readonly kind: SignInKind;
  /** Values for the end of the sign-in, sealed at rest; empty for none. */
  readonly state: string;
  readonly seconds: number;
}

interface TakenRow {
  readonly digest: Buffer;
  readonly sealed: Buffer;
}

/** Sign-ins that have begun, known by a token of 256 bits of which only a keyed digest is stored. Each ends once. */
export class BegunSignInStore {
  constructor(private readonly keys: ServerKeys) {}

  /** Returns the token. */
  async begin(db: Executor, { kind, state, seconds }: NewSignIn): Promise<string> {
    const token = randomBytes(TOKEN_OCTETS).toString('base64url');
    const digest = this.keys.digest('console-sign-in', token);
    const sealed = this.keys.seal('console-sign-in', state, digest.toString('hex'));
    await db.query(DELETE_EXPIRED_SIGN_INS, [MAX_PURGED]);
    await db.query(BEGIN_SIGN_IN, [digest, kind, sealed, seconds]);
    return token;
  }

  /** The state of a sign-in, once; null for one that is unknown, of another kind, taken before or expired. */
  async take(tx: Executor, kind: SignInKind, token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const [row] = await tx.query<TakenRow>(TAKE_SIGN_IN, [this.keys.digests('console-sign-in', token), kind]);
    if (row === undefined) return null;
    return this.keys.open('console-sign-in', row.sealed, row.digest.toString('hex')).toString('utf8');
  }

  /** Ends all of a kind. */
  async discard(db: Executor, kind: SignInKind): Promise<void> {
    await db.query(DELETE_SIGN_INS, [kind]);
  }
}
