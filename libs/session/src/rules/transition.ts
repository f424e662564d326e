import type { EventType } from '@countersign/events';
import type { SessionStatus } from './session.js';

/** What can happen to a session: an SMS matched, a card tapped or a code accepted; a refusal; a DELETE; the clock. */
export type SessionTrigger = 'approve' | 'deny' | 'cancel' | 'expire';

export type RefusalReason = 'approved' | 'denied' | 'cancelled' | 'expired' | 'not_due';

/** `move` is to be written with its event; `none` is a lawful request that changes nothing; `refuse` says why not. */
export type Transition =
  | { readonly kind: 'move'; readonly to: Exclude<SessionStatus, 'pending'>; readonly emits: EventType }
  | { readonly kind: 'none' }
  | { readonly kind: 'refuse'; readonly because: RefusalReason };

/** What `transition` needs to know of a session. */
export interface SessionState {
  readonly status: SessionStatus;
  /** Milliseconds since 1970 by the database's clock. */
  readonly expiresAtMs: number;
}

/** A pending session has a second face: once its time is up it is `due`, expired in truth though not yet in the row. */
type Standing = SessionStatus | 'due';

const NONE: Transition = { kind: 'none' };
const move = (to: Exclude<SessionStatus, 'pending'>, emits: EventType): Transition => ({ kind: 'move', to, emits });
const refuse = (because: RefusalReason): Transition => ({ kind: 'refuse', because });

/** The whole life of a session (specification 3): every standing, every trigger. */
const TABLE: Readonly<Record<Standing, Readonly<Record<SessionTrigger, Transition>>>> = {
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

/** What an event ends its session as; others end none. */
export const ENDS: ReadonlyMap<string, SessionStatus> = new Map(
  Object.values(TABLE)
    .flatMap((row) => Object.values(row))
    .flatMap((each) => (each.kind === 'move' ? [[each.emits, each.to]] : [])),
);

/**
 * Decides what a trigger does to a session. `expiresAt` is the first moment at which the token is no longer valid, so
 * evidence of that very millisecond comes too late.
 *
 * @param nowMs one reading of the database's clock, in whole milliseconds, taken after the row was locked
 */
export function transition(state: SessionState, trigger: SessionTrigger, nowMs: number): Transition {
  return TABLE[standingOf(state, nowMs)][trigger];
}

/** The status that a reader is told at `nowMs`: a pending session whose time is up is expired. */
export function statusAt(state: SessionState, nowMs: number): SessionStatus {
  const standing = standingOf(state, nowMs);
  return standing === 'due' ? 'expired' : standing;
}

function standingOf(state: SessionState, nowMs: number): Standing {
  return state.status === 'pending' && nowMs >= state.expiresAtMs ? 'due' : state.status;
}
