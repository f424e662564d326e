import { randomBytes } from 'node:crypto';
import { renderId, type Uuid } from '@countersign/ids';
import { SIGN_IN_TENANT } from '@countersign/keys';
import { Database } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { codeLimit } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { FailureLog } from '../operations/failure-log.js';
import { SendCodeService } from '../otp/send-code.service.js';

const DECOY_OCTETS = 32;

/** A request for the code of a sign-in. */
export interface RequestedCode {
  readonly sessionId: Uuid;
  /** False for a number of nobody, to which no code is sent. */
  readonly hasHolder: boolean;
}

/** Sends the codes of sign-ins in the background, so that the time of an answer does not depend on whether one is sent. */
@Injectable()
export class SignInCodes {
  private readonly logFailure: (error: unknown) => void;

  constructor(
    private readonly codes: SendCodeService,
    private readonly sessions: SessionStore,
    private readonly database: Database,
    failures: FailureLog,
  ) {
    this.logFailure = failures.about('sending the code of a sign-in');
  }

  /** A refusal is logged alone: the limits of codes and the rules of destinations hold here too. */
  send(requested: RequestedCode): void {
    this.sendOrAddDecoy(requested).catch((error: unknown) => {
      this.logFailure(error);
    });
  }

  private async sendOrAddDecoy({ sessionId, hasHolder }: RequestedCode): Promise<void> {
    if (hasHolder) {
      const outcome = await this.codes.sendCode({ tenant: SIGN_IN_TENANT }, renderId('sess', sessionId));
      if (outcome.ok) return;
      this.logFailure(new Error(outcome.refusal.code));
    }
    await this.addDecoy(sessionId);
  }

  /**
   * Adds a code that no six digits match, under the limits of a sent one. Without it a check would be refused before the attempt
   * is counted, and the time of the answer would say that no code was sent.
   */
  private addDecoy(id: Uuid): Promise<void> {
    return this.database.transaction(async (tx) => {
      const ready = await this.sessions.prepareCode(tx, SIGN_IN_TENANT, id);
      if (ready.kind !== 'ready' || codeLimit(ready) !== null) return;
      await this.sessions.addCode(tx, ready, randomBytes(DECOY_OCTETS).toString('hex'));
    });
  }
}
