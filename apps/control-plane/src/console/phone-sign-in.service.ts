import { PhoneSignInStore, type VerifiedHolder } from '@countersign/accounts/console-sessions';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { type Outcome, refuse, succeed } from '../http/errors.js';
import { type SignIn, SignInService } from './sign-in.service.js';
import { SignInVerifications } from './sign-in-verifications.js';
import { type BegunSignIn, VERIFICATION_SECONDS, VerificationSignIns } from './verification-sign-in.service.js';

/**
 * Signs members of accounts in by a verification of their phone. A number of nobody has the same answers, statements and
 * limits; nothing is sent to it, and its approval opens nothing.
 */
@Injectable()
export class PhoneSignInService extends VerificationSignIns<PhoneSignInStore> {
  constructor(database: Database, begun: PhoneSignInStore, verifications: SignInVerifications, signIns: SignInService) {
    super({ database, begun, verifications, signIns });
  }

  async begin(phone: string): Promise<Outcome<BegunSignIn>> {
    const { database, begun, verifications } = this.parts;
    const token = begun.newToken();
    const verification = await verifications.begin(phone, token);
    if (verification === null) return refuse('INVALID_PHONE', { field: 'phone' });
    const { sessionId } = verification;
    await begun.begin(database, { token, phone, sessionId, seconds: VERIFICATION_SECONDS });
    return succeed({ ...verification, token });
  }

  protected override signInOf(holder: VerifiedHolder): SignIn {
    return { ...holder, method: 'phone' };
  }
}
