import type { Uuid } from '@countersign/ids';
import type { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import { type VerifiedHolder, VerificationSignInStore } from './verification-sign-in.store.js';
import { BEGIN_PHONE_SIGN_IN, TAKE_PHONE_SIGN_IN } from './verification-sign-in.sql.js';

interface NewPhoneSignIn {
  readonly token: string;
  /** E.164. */
  readonly phone: string;
  /** The verification that decides. */
  readonly sessionId: Uuid;
  readonly seconds: number;
}

/** Sign-ins of members of accounts by their phone alone. A number of nobody has a row like a member's. */
export class PhoneSignInStore extends VerificationSignInStore {
  constructor(keys: ServerKeys) {
    super(keys, 'phone');
  }

  begin(db: Executor, { token, phone, sessionId, seconds }: NewPhoneSignIn): Promise<void> {
    return this.insert(db, BEGIN_PHONE_SIGN_IN, token, [phone, sessionId, seconds]);
  }

  take(tx: Executor, token: string, phone: string): Promise<VerifiedHolder | null> {
    return this.queryOne<VerifiedHolder>(tx, TAKE_PHONE_SIGN_IN, token, phone);
  }
}
