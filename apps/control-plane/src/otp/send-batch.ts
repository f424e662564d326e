import type { Uuid } from '@countersign/ids';
import type { CodeReadiness, ReadyForCode } from '@countersign/session';
import { codeLimit } from '@countersign/session/rules';
import type { Refusal } from '../http/errors.js';
import { testNumberOf } from '../test-numbers/test-number.js';
import { codeRefusal, guardRefusal, limitRefusal, NO_ROUTE } from './code-refusals.js';
import type { GuardRefusal } from '../guard/guard-rules.js';
import type { GuardedRefusal, GuardedSends } from '../guard/send-guard.js';

/** One request to send a code, with the state read under its session's lock. */
export interface SendRequest {
  readonly messageId: Uuid;
  readonly readiness: CodeReadiness;
  /** The destination of the message if an earlier run of the same request has queued it, or null. */
  readonly queuedTo: string | null;
}

export type SendDecision =
  /** An earlier request has queued the message. */
  | { readonly kind: 'known'; readonly phone: string }
  | { readonly kind: 'send'; readonly messageId: Uuid; readonly ready: ReadyForCode }
  | {
      readonly kind: 'refused';
      readonly refusal: Refusal;
      /** The refusal that the guard has to record. */
      readonly guarded?: GuardedRefusal;
    };

const TEST_NUMBER_BLOCKED: GuardRefusal = { kind: 'blocked', rule: 'destination_rule', trips: false };

const refused = (refusal: Refusal): SendDecision => ({ kind: 'refused', refusal });

/**
 * Decides the sends of a batch one after the other; each decision counts the sends that this batch allowed before.
 * Refusals have the contract's order: the session, its destination, the limits, the route.
 */
export class SendBatch {
  private readonly sent = new Map<Uuid, { readonly messageId: Uuid; readonly phone: string }>();

  constructor(
    private readonly guarded: Pick<GuardedSends, 'checkSend' | 'addSend'>,
    /** Phones that have a route. */
    private readonly reachable: ReadonlySet<string>,
  ) {}

  decide({ messageId, readiness, queuedTo }: SendRequest): SendDecision {
    if (queuedTo !== null) return { kind: 'known', phone: queuedTo };
    if (readiness.kind !== 'ready') return refused(codeRefusal(readiness));
    const { session } = readiness;
    const before = this.sent.get(session.id);
    if (before?.messageId === messageId) return { kind: 'known', phone: before.phone };
    const refusal = this.refusalOf(readiness, before !== undefined);
    if (refusal !== null) return refusal;
    if (!session.test && !this.reachable.has(session.phone)) return refused(NO_ROUTE);
    if (!session.test) this.guarded.addSend(readiness);
    this.sent.set(session.id, { messageId, phone: session.phone });
    return { kind: 'send', messageId, ready: readiness };
  }

  /** Precedence: a blocked destination, then a limit of the session, then a cap of the phone. */
  private refusalOf(ready: ReadyForCode, justSent: boolean): SendDecision | null {
    const { session, now } = ready;
    const guarded = session.test ? judgeTestNumber(session.phone) : this.guarded.checkSend(ready);
    const limit = guarded?.kind === 'blocked' ? null : codeLimit(justSent ? withOneMoreSend(ready) : ready);
    if (limit !== null) return refused(limitRefusal(limit));
    if (guarded === null) return null;
    const refusal = guardRefusal(guarded, now);
    return session.test ? refused(refusal) : { kind: 'refused', refusal, guarded: { session, refusal: guarded } };
  }
}

/** Sends of test keys have no guard and no caps; one test number simulates a blocked destination (contract, Test keys). */
const judgeTestNumber = (phone: string): GuardRefusal | null =>
  testNumberOf(phone).code === 'blocked' ? TEST_NUMBER_BLOCKED : null;

const withOneMoreSend = (ready: ReadyForCode): ReadyForCode => ({
  ...ready,
  sends: ready.sends + 1,
  sentAt: ready.now,
});
