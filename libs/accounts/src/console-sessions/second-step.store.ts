import type { Uuid } from '@countersign/ids';
import type { ServerKeys } from '@countersign/keys';
import type { Executor } from '@countersign/postgres';
import type { SessionHolder } from './console-session.js';
import { type VerifiedHolder, VerificationSignInStore } from './verification-sign-in.store.js';
import { BEGIN_SECOND_STEP, FIND_PHONE_OF_HOLDER, TAKE_SECOND_STEP } from './verification-sign-in.sql.js';

interface NewSecondStep {
  readonly token: string;
  readonly holder: VerifiedHolder;
  /** The verification of the holder's phone. */
  readonly sessionId: Uuid;
  readonly seconds: number;
}

/** Second steps of sign-ins to the installation: the first one has named the holder, whose phone is verified now. */
export class SecondStepStore extends VerificationSignInStore {
  constructor(keys: ServerKeys) {
    super(keys, 'second_step');
  }

  /** Null for a holder who has none, or may not sign in any more. */
  async phoneOf(db: Executor, { memberId, adminKeyId }: SessionHolder): Promise<string | null> {
    const [row] = await db.query<{ phone: string }>(FIND_PHONE_OF_HOLDER, [memberId, adminKeyId]);
    return row?.phone ?? null;
  }

  begin(db: Executor, { token, holder, sessionId, seconds }: NewSecondStep): Promise<void> {
    const { memberId, adminKeyId, keyDigests } = holder;
    return this.insert(db, BEGIN_SECOND_STEP, token, [memberId, adminKeyId, keyDigests, sessionId, seconds]);
  }

  take(tx: Executor, token: string, phone: string): Promise<VerifiedHolder | null> {
    return this.queryOne<VerifiedHolder>(tx, TAKE_SECOND_STEP, token, phone);
  }
}
