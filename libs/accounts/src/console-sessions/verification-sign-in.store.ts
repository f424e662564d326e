import { randomBytes } from 'node:crypto';
import type { Uuid } from '@countersign/ids';
import type { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { DELETE_EXPIRED_SIGN_INS } from './begun-sign-in.sql.js';
import type { SessionHolder } from './console-session.js';
import { signInStatements, type VerificationKind } from './verification-sign-in.sql.js';

const TOKEN_OCTETS = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Expired rows that one begin deletes. */
const MAX_PURGED = 1_000;
/** Checks of codes that one sign-in accepts, as many as its session. */
const MAX_CHECKS = 5;
/** Longer than the session's own interval of 30 s, so that a code that was promised is sent. */
const CODE_INTERVAL_SECONDS = 40;

/** A sign-in of a browser. Not known from it: whose phone is verified. */
export interface VerificationSignIn {
  readonly sessionId: Uuid;
  readonly expiresAt: Date;
}

/** A request for a code. */
export type CodeRequest =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'too_soon'; readonly retryAfterSeconds: number }
  /** To be sent, or for a number of nobody not. */
  | { readonly kind: 'accepted'; readonly sessionId: Uuid; readonly hasHolder: boolean };

/** The holder of the session that a verified phone opens. */
export interface VerifiedHolder extends SessionHolder {
  /** Of the admin key that the holder signed in with; empty for members. */
  readonly keyDigests: readonly Buffer[];
}

/**
 * Sign-ins that a verification of a phone decides, known by a token of 256 bits in the cookie of one browser, of which only
 * a keyed digest is stored.
 */
export abstract class VerificationSignInStore {
  private readonly statements: ReturnType<typeof signInStatements>;

  constructor(
    private readonly keys: ServerKeys,
    kind: VerificationKind,
  ) {
    this.statements = signInStatements(kind);
  }

  newToken(): string {
    return randomBytes(TOKEN_OCTETS).toString('base64url');
  }

  /** Null for a sign-in that is unknown, taken or expired. */
  find(db: Executor, token: string): Promise<VerificationSignIn | null> {
    return this.queryOne<VerificationSignIn>(db, this.statements.find, token);
  }

  /** Counts a check of a code before it is compared; null after MAX_CHECKS, or as `find`. */
  countCheck(db: Executor, token: string): Promise<VerificationSignIn | null> {
    return this.queryOne<VerificationSignIn>(db, this.statements.countCheck, token, MAX_CHECKS);
  }

  async requestCode(db: Executor, token: string): Promise<CodeRequest> {
    const { recordCode, nextCodeIn } = this.statements;
    type Accepted = Pick<Extract<CodeRequest, { kind: 'accepted' }>, 'sessionId' | 'hasHolder'>;
    const accepted = await this.queryOne<Accepted>(db, recordCode, token, CODE_INTERVAL_SECONDS);
    if (accepted !== null) return { kind: 'accepted', ...accepted };
    const next = await this.queryOne<{ seconds: number }>(db, nextCodeIn, token, CODE_INTERVAL_SECONDS);
    if (next === null) return { kind: 'unknown' };
    return { kind: 'too_soon', retryAfterSeconds: Math.max(1, Math.ceil(next.seconds)) };
  }

  /** The holder whose phone was verified, once; null for everybody else. */
  abstract take(tx: Executor, token: string, phone: string): Promise<VerifiedHolder | null>;

  /** Inserts a sign-in by a statement whose first value is the digest of its token. */
  protected async insert(db: Executor, statement: string, token: string, values: readonly unknown[]): Promise<void> {
    await db.query(DELETE_EXPIRED_SIGN_INS, [MAX_PURGED]);
    await db.query(statement, [this.keys.digest('console-sign-in', token), ...values]);
  }

  protected async queryOne<Row extends object>(
    db: Executor,
    statement: string,
    token: string,
    ...values: readonly unknown[]
  ): Promise<Row | null> {
    if (!TOKEN.test(token)) return null;
    const [row = null] = await db.query<Row>(statement, [this.keys.digests('console-sign-in', token), ...values]);
    return row;
  }
}
