import type { EventType } from '@countersign/events';
import type { SessionStatus } from './session.js';

/** Events of a session: an SMS matched, a card tapped or a code accepted; a refusal; a DELETE; the clock. */
export type SessionTrigger = 'approve' | 'deny' | 'cancel' | 'expire';

export type RefusalReason = 'approved' | 'denied' | 'cancelled' | 'expired' | 'not_due';

/** `move`: write the new status and its event; `none`: a valid request without effect; `refuse`: with the reason. */
export type Transition =
  | { readonly kind: 'move'; readonly to: Exclude<SessionStatus, 'pending'>; readonly emits: EventType }
  | { readonly kind: 'none' }
  | { readonly kind: 'refuse'; readonly because: RefusalReason };

/** The input of `transition`. */
export interface SessionState {
  readonly status: SessionStatus;
  /** Milliseconds since 1970 by the database's clock. */
  readonly expiresAtMs: number;
}

/**
 * The status of the row, and `due` for a pending session past `expiresAt`: expired, but not yet marked in the row.
 */
type EffectiveStatus = SessionStatus | 'due';

const NONE: Transition = { kind: 'none' };
const move = (to: Exclude<SessionStatus, 'pending'>, emits: EventType): Transition => ({ kind: 'move', to, emits });
const refuse = (because: RefusalReason): Transition => ({ kind: 'refuse', because });

/** The state table of a session (specification 3): every state, every trigger. */
const TABLE: Readonly<Record<EffectiveStatus, Readonly<Record<SessionTrigger, Transition>>>> = {
  pending: {
    approve: move('approved', 'verification.completed'),
    deny: move('denied', 'verification.denied'),
    cancel: move('cancelled', 'verification.cancelled'),
    expire: refuse('not_due'),
  },
  due: {
    approve: refuse('expired'),
    deny: refuse('expired'),
    cancel: NONE,
    expire: move('expired', 'verification.expired'),
  },
  approved: { approve: refuse('approved'), deny: refuse('approved'), cancel: NONE, expire: NONE },
  denied: { approve: refuse('denied'), deny: refuse('denied'), cancel: NONE, expire: NONE },
  cancelled: { approve: refuse('cancelled'), deny: refuse('cancelled'), cancel: NONE, expire: NONE },
  expired: { approve: refuse('expired'), deny: refuse('expired'), cancel: NONE, expire: NONE },
};

/** The terminal status by event type; other events have none. */
export const STATUS_BY_TERMINAL_EVENT: ReadonlyMap<string, SessionStatus> = new Map(
  Object.values(TABLE)
    .flatMap((row) => Object.values(row))
    .flatMap((each) => (each.kind === 'move' ? [[each.emits, each.to]] : [])),
);

/**
 * Decides the effect of a trigger on a session. `expiresAt` is the first millisecond at which the token is invalid,
 * so evidence in that millisecond is too late.
 *
 * @param nowMs one reading of the database's clock, in whole milliseconds, taken after the row was locked
 */
export function transition(state: SessionState, trigger: SessionTrigger, nowMs: number): Transition {
  return TABLE[effectiveStatus(state, nowMs)][trigger];
}

/** The effective status at `nowMs`: a pending session past `expiresAt` is expired. */
export function statusAt(state: SessionState, nowMs: number): SessionStatus {
  const status = effectiveStatus(state, nowMs);
  return status === 'due' ? 'expired' : status;
}

function effectiveStatus(state: SessionState, nowMs: number): EffectiveStatus {
  return state.status === 'pending' && nowMs >= state.expiresAtMs ? 'due' : state.status;
}
