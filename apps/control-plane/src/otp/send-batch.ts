import type { Uuid } from '@countersign/ids';
import type { CodeReadiness, ReadyForCode } from '@countersign/session';
import { codeLimit } from '@countersign/session/rules';
import type { Refusal } from '../http/errors.js';
import { testNumberOf } from '../test-numbers/test-number.js';
import { codeRefusal, guardRefusal, limitRefusal, NO_ROUTE } from './code-refusals.js';
import type { GuardRefusal } from '../guard/guard-rules.js';
import type { GuardedRefusal, GuardedSends } from '../guard/send-guard.js';

/** One request to send a code, and what was read for it under its session's lock. */
export interface AskedSend {
  readonly messageId: Uuid;
  readonly readiness: CodeReadiness;
  /** The phone that an earlier run of the same request has queued the message to, or null. */
  readonly queuedTo: string | null;
}

export type SendDecision =
  /** There is nothing left to do: an earlier request did it. */
  | { readonly kind: 'known'; readonly phone: string }
  | { readonly kind: 'send'; readonly messageId: Uuid; readonly ready: ReadyForCode }
  | {
      readonly kind: 'refused';
      readonly refusal: Refusal;
      /** What the guard has to write down about it. */
      readonly guarded?: GuardedRefusal;
    };

const TEST_NUMBER_BLOCKED: GuardRefusal = { kind: 'blocked', rule: 'destination_rule', trips: false };

const refused = (refusal: Refusal): SendDecision => ({ kind: 'refused', refusal });

/**
 * Decides sends of one moment one after the other, each as if those before it had long been written. Refusals come in
 * the contract's order: the session, its destination, the limits, the route.
 */
export class SendBatch {
  private readonly sent = new Map<Uuid, { readonly messageId: Uuid; readonly phone: string }>();

  constructor(
    private readonly guarded: Pick<GuardedSends, 'judge' | 'enter'>,
    /** Phones that a route leads to. */
    private readonly reachable: ReadonlySet<string>,
  ) {}

  decide({ messageId, readiness, queuedTo }: AskedSend): SendDecision {
    if (queuedTo !== null) return { kind: 'known', phone: queuedTo };
    if (readiness.kind !== 'ready') return refused(codeRefusal(readiness));
    const { session } = readiness;
    const before = this.sent.get(session.id);
    if (before?.messageId === messageId) return { kind: 'known', phone: before.phone };
    const refusal = this.judge(readiness, before !== undefined);
    if (refusal !== null) return refusal;
    if (!session.test && !this.reachable.has(session.phone)) return refused(NO_ROUTE);
    if (!session.test) this.guarded.enter(readiness);
    this.sent.set(session.id, { messageId, phone: session.phone });
    return { kind: 'send', messageId, ready: readiness };
  }

  /** A blocked destination is told before a limit of the session, and that before one of the phone. */
  private judge(ready: ReadyForCode, justSent: boolean): SendDecision | null {
    const { session, now } = ready;
    const guarded = session.test ? judgeTestNumber(session.phone) : this.guarded.judge(ready);
    const limit = guarded?.kind === 'blocked' ? null : codeLimit(justSent ? withOneMore(ready) : ready);
    if (limit !== null) return refused(limitRefusal(limit));
    if (guarded === null) return null;
    const refusal = guardRefusal(guarded, now);
    return session.test ? refused(refusal) : { kind: 'refused', refusal, guarded: { session, refusal: guarded } };
  }
}

/** What a test key sends has no guard and no caps: its numbers act one out (contract, Test keys). */
const judgeTestNumber = (phone: string): GuardRefusal | null =>
  testNumberOf(phone).code === 'blocked' ? TEST_NUMBER_BLOCKED : null;

const withOneMore = (ready: ReadyForCode): ReadyForCode => ({ ...ready, sends: ready.sends + 1, sentAt: ready.now });
