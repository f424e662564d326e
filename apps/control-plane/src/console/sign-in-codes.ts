import { renderId, type Uuid } from '@countersign/ids';
import { SIGN_IN_TENANT } from '@countersign/keys';
import { Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { SendCodeService } from '../otp/send-code.service.js';

/** Sends the codes of sign-ins in the background, so that the time of an answer does not depend on whether one is sent. */
@Injectable()
export class SignInCodes {
  private readonly logFailure: (error: unknown) => void;

  constructor(
    private readonly codes: SendCodeService,
    failures: FailureLog,
  ) {
    this.logFailure = failures.about('sending the code of a sign-in');
  }

  /** A refusal is logged alone: the limits of codes and the rules of destinations hold here too. */
  send(sessionId: Uuid): void {
    this.codes.sendCode({ tenant: SIGN_IN_TENANT }, renderId('sess', sessionId)).then(
      (outcome) => {
        if (!outcome.ok) this.logFailure(new Error(outcome.refusal.code));
      },
      (error: unknown) => {
        this.logFailure(error);
      },
    );
  }
}
