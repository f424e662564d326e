import type { OpenedConsoleSession } from '@countersign/accounts/console-sessions';
import { Database, type Executor } from '@countersign/postgres';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { Limits } from '../http/limits.js';
import { SecondStepService } from './second-step.service.js';
import { type SignIn, SignInService } from './sign-in.service.js';
import type { BegunSignIn } from './verification-sign-in.service.js';
import type { Visitor } from './visitor.decorator.js';

/** The result of the first step. */
export type FirstStep =
  | { readonly kind: 'opened'; readonly opened: OpenedConsoleSession }
  /** The phone of the holder must be verified now. */
  | { readonly kind: 'second_step'; readonly begun: BegunSignIn }
  /** The second step is required, and the holder has no phone that can be verified. */
  | { readonly kind: 'no_phone' }
  /** The holder has begun too many. */
  | { readonly kind: 'too_many'; readonly retryAfterSeconds: number };

/**
 * Ends the first step of sign-ins to the installation, with an OpenID provider or an admin key: in a session, or in the
 * second step. The key of the environment and the link of a development run need none: they are the way back in.
 */
@Injectable()
export class FirstStepService {
  constructor(
    private readonly database: Database,
    private readonly signIns: SignInService,
    private readonly secondSteps: SecondStepService,
    private readonly limits: Limits,
    @Inject(ControlPlaneSettings)
    private readonly settings: Pick<ControlPlaneSettings, 'consoleSecondStep'>,
  ) {}

  /** @param prove the first step, in the transaction; null refuses the sign-in */
  async end(visitor: Visitor, prove: (tx: Executor) => Promise<SignIn | null>): Promise<FirstStep | null> {
    const { database, signIns } = this;
    if (!this.settings.consoleSecondStep) return openedOf(await signIns.open(visitor, prove));
    const signIn = await database.transaction(prove);
    if (signIn === null) return null;
    const holderId = signIn.memberId ?? signIn.adminKeyId;
    if (holderId === null) return openedOf(await signIns.open(visitor, () => Promise.resolve(signIn)));
    const { refusal } = await this.limits.countSecondStep(holderId);
    if (refusal !== null) return { kind: 'too_many', retryAfterSeconds: refusal.retryAfterSeconds ?? 1 };
    const begun = await this.secondSteps.begin(signIn);
    return begun === null ? { kind: 'no_phone' } : { kind: 'second_step', begun };
  }
}

const openedOf = (opened: OpenedConsoleSession | null): FirstStep | null =>
  opened === null ? null : { kind: 'opened', opened };
