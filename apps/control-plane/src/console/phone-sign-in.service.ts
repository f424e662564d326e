import { type OpenedConsoleSession, type PhoneSignIn, PhoneSignInStore } from '@countersign/accounts/console-sessions';
import type { Uuid } from '@countersign/ids';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { type Outcome, refuse, succeed } from '../http/errors.js';
import { type SignIn, SignInService } from './sign-in.service.js';
import { type BegunVerification, SIGN_IN_SECONDS, SignInVerifications } from './sign-in-verifications.js';
import type { Visitor } from './visitor.decorator.js';

/** How much longer than its verification a sign-in lives, so that a late approval can still be used. */
const GRACE_SECONDS = 60;
/** Lifetime of the browser's cookie. */
export const PHONE_SIGN_IN_SECONDS = SIGN_IN_SECONDS + GRACE_SECONDS;

export interface BegunPhoneSignIn extends BegunVerification {
  /** For the cookie of the browser. */
  readonly token: string;
}

/** A sign-in that waits for its phone, or its new session. */
export type PhoneState =
  | { readonly state: 'pending'; readonly expiresAt: Date }
  | { readonly state: 'approved'; readonly opened: OpenedConsoleSession };

/**
 * Signs members of accounts in by a verification of their phone. A number of nobody has the same answers, statements and
 * limits; nothing is sent to it, and its approval opens nothing.
 */
@Injectable()
export class PhoneSignInService {
  constructor(
    private readonly database: Database,
    private readonly begun: PhoneSignInStore,
    private readonly verifications: SignInVerifications,
    private readonly signIns: SignInService,
  ) {}

  async begin(phone: string): Promise<Outcome<BegunPhoneSignIn>> {
    const token = this.begun.newToken();
    const verification = await this.verifications.begin(phone, token);
    if (verification === null) return refuse('INVALID_PHONE', { field: 'phone' });
    const { sessionId } = verification;
    await this.begun.begin(this.database, { token, phone, sessionId, seconds: PHONE_SIGN_IN_SECONDS });
    return succeed({ ...verification, token });
  }

  /** The session to which a code is to be sent; null when the phone is that of nobody, or the sign-in unknown. */
  async requestCode(token: string): Promise<Outcome<Uuid | null>> {
    const request = await this.begun.requestCode(this.database, token);
    if (request.kind === 'too_soon') {
      return refuse('SEND_LIMIT_REACHED', { retryAfterSeconds: request.retryAfterSeconds });
    }
    return succeed(request.kind === 'accepted' && request.isMember ? request.sessionId : null);
  }

  /** The new session for a right code; null for every failure. */
  async check(visitor: Visitor, token: string, code: string): Promise<OpenedConsoleSession | null> {
    const signIn = await this.begun.countCheck(this.database, token);
    if (signIn === null) return null;
    const { kind } = await this.verifications.check(signIn.sessionId, code);
    return kind === 'approved' ? this.open(visitor, token, signIn) : null;
  }

  /** Null for a sign-in that is unknown, over, or of nobody. */
  async state(visitor: Visitor, token: string): Promise<PhoneState | null> {
    const signIn = await this.begun.find(this.database, token);
    const session = signIn === null ? null : await this.verifications.find(signIn.sessionId, token);
    if (signIn === null || session === null) return null;
    if (session.status === 'pending') return { state: 'pending', expiresAt: session.expiresAt };
    if (session.status !== 'approved') return null;
    const opened = await this.open(visitor, token, signIn);
    return opened === null ? null : { state: 'approved', opened };
  }

  /** The verification is used up first, so that of several calls one opens a session. */
  private async open(
    visitor: Visitor,
    token: string,
    { sessionId }: PhoneSignIn,
  ): Promise<OpenedConsoleSession | null> {
    const verified = await this.verifications.consume(sessionId);
    if (verified === null) return null;
    return this.signIns.open(visitor, (tx) => this.identify(tx, token, verified.phone));
  }

  private async identify(tx: Executor, token: string, phone: string): Promise<SignIn | null> {
    const memberId = await this.begun.take(tx, token, phone);
    return memberId === null ? null : { memberId, adminKeyId: null, adminKey: null, method: 'phone' };
  }
}
