import { randomBytes } from 'node:crypto';
import type { Uuid } from '@countersign/ids';
import type { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { DELETE_EXPIRED_SIGN_INS } from './begun-sign-in.sql.js';
import {
  BEGIN_PHONE_SIGN_IN,
  COUNT_CHECK,
  FIND_PHONE_SIGN_IN,
  NEXT_CODE_IN,
  RECORD_CODE,
  TAKE_PHONE_SIGN_IN,
} from './phone-sign-in.sql.js';

const TOKEN_OCTETS = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** Expired rows that one begin deletes. */
const MAX_PURGED = 1_000;
/** Checks of codes that one sign-in accepts, as many as its session. */
const MAX_CHECKS = 5;
/** Longer than the session's own interval of 30 s, so that a code that was promised is sent. */
const CODE_INTERVAL_SECONDS = 40;

interface NewPhoneSignIn {
  readonly token: string;
  /** E.164. */
  readonly phone: string;
  /** The verification that decides. */
  readonly sessionId: Uuid;
  readonly seconds: number;
}

/** A sign-in of a browser by phone. Not known from it: whether the phone is that of a member. */
export interface PhoneSignIn {
  readonly sessionId: Uuid;
  readonly expiresAt: Date;
}

/** A request for a code. */
export type CodeRequest =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'too_soon'; readonly retryAfterSeconds: number }
  /** To be sent, or for a number of nobody not. */
  | { readonly kind: 'accepted'; readonly sessionId: Uuid; readonly isMember: boolean };

/**
 * Sign-ins by a verification of a phone, known by a token of 256 bits in the cookie of one browser, of which only a keyed
 * digest is stored. A number of nobody has a row like a member's.
 */
export class PhoneSignInStore {
  constructor(private readonly keys: ServerKeys) {}

  newToken(): string {
    return randomBytes(TOKEN_OCTETS).toString('base64url');
  }

  async begin(db: Executor, { token, phone, sessionId, seconds }: NewPhoneSignIn): Promise<void> {
    await db.query(DELETE_EXPIRED_SIGN_INS, [MAX_PURGED]);
    const digest = this.keys.digest('console-sign-in', token);
    await db.query(BEGIN_PHONE_SIGN_IN, [digest, phone, sessionId, seconds]);
  }

  /** Null for a sign-in that is unknown, taken or expired. */
  async find(db: Executor, token: string): Promise<PhoneSignIn | null> {
    return this.queryOne<PhoneSignIn>(db, FIND_PHONE_SIGN_IN, token);
  }

  /** Counts a check of a code before it is compared; null after MAX_CHECKS, or as `find`. */
  async countCheck(db: Executor, token: string): Promise<PhoneSignIn | null> {
    return this.queryOne<PhoneSignIn>(db, COUNT_CHECK, token, MAX_CHECKS);
  }

  async requestCode(db: Executor, token: string): Promise<CodeRequest> {
    const accepted = await this.queryOne<{ sessionId: Uuid; isMember: boolean }>(
      db,
      RECORD_CODE,
      token,
      CODE_INTERVAL_SECONDS,
    );
    if (accepted !== null) return { kind: 'accepted', ...accepted };
    const next = await this.queryOne<{ seconds: number }>(db, NEXT_CODE_IN, token, CODE_INTERVAL_SECONDS);
    if (next === null) return { kind: 'unknown' };
    return { kind: 'too_soon', retryAfterSeconds: Math.max(1, Math.ceil(next.seconds)) };
  }

  /** The member whose phone was verified, once; null for everybody else. */
  async take(tx: Executor, token: string, phone: string): Promise<Uuid | null> {
    return (await this.queryOne<{ id: Uuid }>(tx, TAKE_PHONE_SIGN_IN, token, phone))?.id ?? null;
  }

  private async queryOne<Row extends object>(
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
