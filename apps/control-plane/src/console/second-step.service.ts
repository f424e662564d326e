import { SecondStepStore, type VerifiedHolder } from '@countersign/accounts/console-sessions';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { type SignIn, SignInService } from './sign-in.service.js';
import { SignInVerifications } from './sign-in-verifications.js';
import { type BegunSignIn, VERIFICATION_SECONDS, VerificationSignIns } from './verification-sign-in.service.js';

/**
 * The second step of sign-ins to the installation (CONSOLE_SECOND_STEP): an OpenID provider or an admin key has named the
 * holder, whose phone must be verified before there is a session.
 */
@Injectable()
export class SecondStepService extends VerificationSignIns<SecondStepStore> {
  constructor(database: Database, begun: SecondStepStore, verifications: SignInVerifications, signIns: SignInService) {
    super({ database, begun, verifications, signIns });
  }

  /** Sends nothing. Null for a holder without a phone that can be verified. */
  async begin(holder: VerifiedHolder): Promise<BegunSignIn | null> {
    const { database, begun, verifications } = this.parts;
    const phone = await begun.phoneOf(database, holder);
    if (phone === null) return null;
    const token = begun.newToken();
    const verification = await verifications.begin(phone, token);
    if (verification === null) return null;
    const { sessionId } = verification;
    await begun.begin(database, { token, holder, sessionId, seconds: VERIFICATION_SECONDS });
    return { ...verification, token };
  }

  protected override signInOf(holder: VerifiedHolder): SignIn {
    return { ...holder, method: holder.memberId === null ? 'key' : 'oidc', isSecondStep: true };
  }
}
