import { randomInt } from 'node:crypto';
import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { Tenant } from '@countersign/keys';
import { parseId, type Uuid } from '@countersign/ids';
import { Batcher, Database, type Executor } from '@countersign/postgres';
import { SessionStore, type ReadyForCode } from '@countersign/session';
import { generateCode } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../http/errors.js';
import { TEST_CODE } from '../test-numbers/test-number.js';
import type { SendSmsAnswer } from '../verify/session.view.js';
import { NOT_FOUND } from './code-refusals.js';
import { OnStop } from '../composition/phases.js';
import { CodeNotifier } from './code.notifier.js';
import { CodeOutbox } from './code.outbox.js';
import { SendBatch, type SendRequest, type SendDecision } from './send-batch.js';
import { SendGuard } from '../guard/send-guard.js';

const MAX_BATCH = 32;
/** A second batch can run while the first waits for counters that another process has locked. */
const BATCHES_IN_FLIGHT = 2;
const MAX_QUEUED_SENDS = 4_096;

interface SendCommand {
  readonly tenant: Tenant;
  readonly sessionId: Uuid;
  readonly messageId: Uuid;
}

/**
 * Queues codes, which a gateway sends by SMS (specification 4.3): answers once the code's digest and the sealed message are
 * committed together. Concurrent sends share a transaction. A refused send writes nothing but the guard's tally.
 */
@Injectable()
export class SendCodeService {
  private readonly sends: Batcher<SendCommand, Outcome<SendSmsAnswer>>;

  constructor(
    private readonly database: Database,
    private readonly sessions: SessionStore,
    private readonly guard: SendGuard,
    private readonly outbox: CodeOutbox,
    private readonly notifier: CodeNotifier,
  ) {
    this.sends = new Batcher({
      name: 'otp.send',
      // Sends of one session may share a batch, because SendBatch decides them one after the other.
      keysOf: () => [],
      limits: { maxBatch: MAX_BATCH, maxInFlight: BATCHES_IN_FLIGHT, maxQueued: MAX_QUEUED_SENDS },
      run: (commands) => this.sendBatch(commands),
    });
  }

  /** With the message id of an earlier attempt it answers for that message and sends no other. */
  async sendCode(
    { tenant }: Pick<ApiKeyPrincipal, 'tenant'>,
    sessionId: string,
    messageId: Uuid = this.outbox.newId(),
  ): Promise<Outcome<SendSmsAnswer>> {
    const id = parseId('sess', sessionId);
    if (id === null) return NOT_FOUND;
    return this.sends.add({ tenant, sessionId: id, messageId });
  }

  /** Waits until every accepted send has been decided. */
  @OnStop('batchers')
  drain(): Promise<void> {
    return this.sends.drain();
  }

  private async sendBatch(commands: readonly SendCommand[]): Promise<Outcome<SendSmsAnswer>[]> {
    const decisions = await this.database.transaction((tx) => this.decideAndWrite(tx, commands));
    for (const decision of decisions) {
      if (decision.kind === 'send') this.notifier.notify(decision.messageId, decision.ready);
    }
    await this.guard.recordRefusals(
      decisions.flatMap((each) => (each.kind === 'refused' && each.guarded !== undefined ? [each.guarded] : [])),
    );
    return decisions.map(outcomeOf);
  }

  private async decideAndWrite(tx: Executor, commands: readonly SendCommand[]): Promise<SendDecision[]> {
    const requests = await this.readRequests(tx, commands);
    const ready = requests.flatMap(({ readiness, queuedTo }) =>
      readiness.kind === 'ready' && queuedTo === null && !readiness.session.test ? [readiness] : [],
    );
    const [guarded, reachable] = await Promise.all([
      this.guard.openSends(tx, ready),
      this.outbox.phonesWithRoute(tx, new Set(ready.map(({ session }) => session.phone))),
    ]);
    const batch = new SendBatch(guarded, reachable);
    const decisions = requests.map((request) => batch.decide(request));
    await Promise.all([
      this.guard.writeSends(tx, guarded),
      ...decisions.map((each) => (each.kind === 'send' ? this.writeCode(tx, each.ready, each.messageId) : null)),
    ]);
    return decisions;
  }

  /** Locks the sessions in the order of their ids; the result has the order of the commands. */
  private async readRequests(tx: Executor, commands: readonly SendCommand[]): Promise<SendRequest[]> {
    const requests: Promise<SendRequest>[] = [];
    for (const [at, command] of [...commands.entries()].sort(bySession)) requests[at] = this.readRequest(tx, command);
    return Promise.all(requests);
  }

  private async readRequest(tx: Executor, command: SendCommand): Promise<SendRequest> {
    const { tenant, sessionId, messageId } = command;
    const [readiness, queuedTo] = await Promise.all([
      this.sessions.prepareCode(tx, tenant, sessionId),
      // Read after the session's lock is taken, because an earlier run of this request may not have committed yet.
      this.outbox.queuedTo(tx, messageId, sessionId, tenant),
    ]);
    return { messageId, readiness, queuedTo };
  }

  private async writeCode(tx: Executor, ready: ReadyForCode, messageId: Uuid): Promise<void> {
    const code = ready.session.test ? TEST_CODE : generateCode(randomInt);
    await Promise.all([this.sessions.addCode(tx, ready, code), this.outbox.queueCode(tx, ready, code, messageId)]);
  }
}

type IndexedCommand = readonly [number, SendCommand];

const bySession = ([, one]: IndexedCommand, [, other]: IndexedCommand): number =>
  one.sessionId < other.sessionId ? -1 : 1;

function outcomeOf(decision: SendDecision): Outcome<SendSmsAnswer> {
  if (decision.kind === 'refused') return { ok: false, refusal: decision.refusal };
  const phone = decision.kind === 'known' ? decision.phone : decision.ready.session.phone;
  return succeed({ success: true, message: 'A code is on its way.', phone });
}
