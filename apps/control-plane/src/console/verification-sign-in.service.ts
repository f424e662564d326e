import type {
  OpenedConsoleSession,
  VerificationSignIn,
  VerificationSignInStore,
  VerifiedHolder,
} from '@countersign/accounts/console-sessions';
import type { Database } from '@countersign/postgres';
import { type Outcome, refuse, succeed } from '../http/errors.js';
import type { RequestedCode } from './sign-in-codes.js';
import type { SignIn, SignInService } from './sign-in.service.js';
import { type BegunVerification, SIGN_IN_SECONDS, type SignInVerifications } from './sign-in-verifications.js';
import type { Visitor } from './visitor.decorator.js';

/** How much longer than its verification a sign-in lives, so that a late approval can still be used. */
const GRACE_SECONDS = 60;
/** Lifetime of the browser's cookie. */
export const VERIFICATION_SECONDS = SIGN_IN_SECONDS + GRACE_SECONDS;

/** A sign-in that a browser has begun. */
export interface BegunSignIn extends BegunVerification {
  /** For the cookie of the browser. */
  readonly token: string;
}

/** A sign-in that waits for its phone, or its new session. */
export type VerificationState =
  | ({ readonly state: 'pending' } & BegunVerification)
  | { readonly state: 'approved'; readonly opened: OpenedConsoleSession };

/** The stores and services of a kind of sign-in. */
export interface VerificationParts<Store extends VerificationSignInStore> {
  readonly database: Database;
  readonly begun: Store;
  readonly verifications: SignInVerifications;
  readonly signIns: SignInService;
}

/** Signs in by a verification of a phone, for the browser that has begun it. */
export abstract class VerificationSignIns<Store extends VerificationSignInStore> {
  constructor(protected readonly parts: VerificationParts<Store>) {}

  /** Null when the sign-in is unknown. */
  async requestCode(token: string): Promise<Outcome<RequestedCode | null>> {
    const { begun, database } = this.parts;
    const request = await begun.requestCode(database, token);
    if (request.kind === 'too_soon') {
      return refuse('SEND_LIMIT_REACHED', { retryAfterSeconds: request.retryAfterSeconds });
    }
    return succeed(request.kind === 'accepted' ? request : null);
  }

  /** The new session for a right code; null for every failure. */
  async check(visitor: Visitor, token: string, code: string): Promise<OpenedConsoleSession | null> {
    const { begun, database, verifications } = this.parts;
    const signIn = await begun.countCheck(database, token);
    if (signIn === null) return null;
    const { kind } = await verifications.check(signIn.sessionId, code);
    return kind === 'approved' ? this.open(visitor, token, signIn) : null;
  }

  /** Null for a sign-in that is unknown, over, or of nobody. */
  async state(visitor: Visitor, token: string): Promise<VerificationState | null> {
    const { begun, database, verifications } = this.parts;
    const signIn = await begun.find(database, token);
    const session = signIn === null ? null : await verifications.find(signIn.sessionId, token);
    if (signIn === null || session === null) return null;
    if (session.status === 'pending') return { state: 'pending', ...verifications.shown(session) };
    if (session.status !== 'approved') return null;
    const opened = await this.open(visitor, token, signIn);
    return opened === null ? null : { state: 'approved', opened };
  }

  /** The sign-in that the holder of the verified phone gets. */
  protected abstract signInOf(holder: VerifiedHolder): SignIn;

  /** The verification is used up first, so that of several calls one opens a session. */
  private async open(
    visitor: Visitor,
    token: string,
    { sessionId }: VerificationSignIn,
  ): Promise<OpenedConsoleSession | null> {
    const { begun, verifications, signIns } = this.parts;
    const verified = await verifications.consume(sessionId);
    if (verified === null) return null;
    return signIns.open(visitor, async (tx) => {
      const holder = await begun.take(tx, token, verified.phone);
      return holder === null ? null : this.signInOf(holder);
    });
  }
}
