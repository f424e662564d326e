import { randomInt } from 'node:crypto';
import type { ApiKeyPrincipal } from '@countersign/accounts';
import { Batcher, Database, parseId, type Executor, type Uuid } from '@countersign/postgres';
import { codeLimit, generateCode, SessionStore, type ReadyForCode, type Session } from '@countersign/session';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome, type Refusal } from '../http/errors.js';
import { TEST_CODE, testNumberOf } from '../test-numbers/test-number.js';
import type { SendSmsAnswer } from '../verify/session.view.js';
import { codeRefusal, guardRefusal, limitRefusal, LIVE_SESSION, NO_ROUTE, NOT_FOUND } from './code-refusals.js';
import { CodeOutbox } from './code.outbox.js';
import type { GuardRefusal } from './guard-rules.js';
import { SendGuard } from './send-guard.js';

/** Transactions of sends at a time: each may wait for a counter, and the other connections are for other requests. */
const SENDS_IN_FLIGHT = 3;
const MAX_QUEUED_SENDS = 1_024;

interface SendCommand {
  readonly accountId: Uuid;
  readonly sessionId: Uuid;
  readonly messageId: Uuid;
  /** Asked for by a test key, of which nothing leaves the building. */
  readonly byTestKey: boolean;
}

interface Sent {
  readonly kind: 'sent';
  readonly phone: string;
  readonly test: boolean;
}

interface NotSent {
  readonly kind: 'not_sent';
  readonly refusal: Refusal;
  /** What the guard has to write down about it. */
  readonly guarded?: { readonly session: Session; readonly refusal: GuardRefusal };
}

/** Takes a refused send out of its transaction, which is rolled back: nothing was counted. */
class RolledBack extends Error {
  override readonly name = 'RolledBack';

  constructor(readonly notSent: NotSent) {
    super('a code was not sent');
  }
}

const TEST_NUMBER_BLOCKED: GuardRefusal = { kind: 'blocked', rule: 'destination_rule', trips: false };

/**
 * Sends codes by SMS (specification 4.3): answered once the code's digest and the sealed message are committed together.
 * A refused send leaves nothing but the guard's tally.
 */
@Injectable()
export class SendCodeService {
  /**
   * Not for sets: the sends of one account wait for the same counters, so they queue here instead of in connections, and
   * another account's go past them.
   */
  private readonly sends: Batcher<SendCommand, Outcome<SendSmsAnswer>>;

  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly guard: SendGuard,
    private readonly outbox: CodeOutbox,
  ) {
    this.sends = new Batcher({
      name: 'otp.send',
      keysOf: ({ accountId }) => [accountId],
      maxBatch: 1,
      maxInFlight: SENDS_IN_FLIGHT,
      maxQueued: MAX_QUEUED_SENDS,
      run: (commands) => Promise.all(commands.map((command) => this.run(command))),
    });
  }

  /** With the message id of an earlier attempt whose answer was lost, that message is answered for and no other is sent. */
  async send(
    caller: ApiKeyPrincipal,
    sessionId: string,
    messageId: Uuid = this.outbox.newId(),
  ): Promise<Outcome<SendSmsAnswer>> {
    const id = parseId('sess', sessionId);
    if (id === null) return NOT_FOUND;
    const byTestKey = caller.kind === 'test';
    return this.sends.add({ accountId: caller.accountId, sessionId: id, messageId, byTestKey });
  }

  private async run(command: SendCommand): Promise<Outcome<SendSmsAnswer>> {
    try {
      const { phone, test } = await this.database.transaction(async (tx) => {
        const outcome = await this.sendIn(tx, command);
        if (outcome.kind === 'not_sent') throw new RolledBack(outcome);
        return outcome;
      });
      this.outbox.ring(command.messageId, test);
      return succeed({ success: true, message: 'A code is on its way.', phone });
    } catch (error) {
      if (!(error instanceof RolledBack)) throw error;
      const { refusal, guarded } = error.notSent;
      if (guarded !== undefined) await this.guard.record(guarded.session, guarded.refusal);
      return { ok: false, refusal };
    }
  }

  /** Refusals in the contract's order: the session, its destination, the limits, the route. */
  private async sendIn(tx: Executor, command: SendCommand): Promise<Sent | NotSent> {
    const { accountId, sessionId, messageId } = command;
    const [ready, queuedTo] = await Promise.all([
      this.sessions.prepareCode(tx, accountId, sessionId),
      // Looked for behind the session's lock: an earlier run of this request may be at work still.
      this.outbox.queuedTo(tx, messageId, sessionId, accountId),
    ]);
    if (queuedTo !== null) return { kind: 'sent', phone: queuedTo, test: false };
    if (ready.kind !== 'ready') return { kind: 'not_sent', refusal: codeRefusal(ready) };
    if (command.byTestKey && !ready.session.test) return { kind: 'not_sent', refusal: LIVE_SESSION };
    const refused = (await this.judge(tx, ready)) ?? (await this.unroutable(tx, ready.session));
    if (refused !== null) return refused;
    const { phone, test } = ready.session;
    const code = test ? TEST_CODE : generateCode(randomInt);
    await Promise.all([this.sessions.addCode(tx, ready, code), this.outbox.queue(tx, ready, code, messageId)]);
    return { kind: 'sent', phone, test };
  }

  /** A blocked destination is told before a limit of the session, and that before one of the phone. */
  private async judge(tx: Executor, ready: ReadyForCode): Promise<NotSent | null> {
    const { session, now } = ready;
    const guarded = session.test ? judgeTestNumber(session) : await this.guard.judge(tx, ready);
    const limit = guarded?.kind === 'blocked' ? null : codeLimit(ready);
    if (limit !== null) return { kind: 'not_sent', refusal: limitRefusal(limit) };
    if (guarded === null) return null;
    const refusal = guardRefusal(guarded, now);
    if (session.test) return { kind: 'not_sent', refusal };
    return { kind: 'not_sent', refusal, guarded: { session, refusal: guarded } };
  }

  private async unroutable(tx: Executor, session: Session): Promise<NotSent | null> {
    return (await this.outbox.canReach(tx, session)) ? null : { kind: 'not_sent', refusal: NO_ROUTE };
  }
}

/** What a test key sends has no guard and no caps: its numbers act one out (contract, Test keys). */
const judgeTestNumber = ({ phone }: Session): GuardRefusal | null =>
  testNumberOf(phone).code === 'blocked' ? TEST_NUMBER_BLOCKED : null;
