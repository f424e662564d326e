import type { FinalChannel } from '@countersign/rcs/rules';
import type { CardEnd } from '../operations/control-plane.metrics.js';

/** The result of a wait. `'unknown'`: the card's row must be read to know whether the card may still arrive. */
export interface CardDecision {
  readonly end: CardEnd;
  readonly mayArrive: boolean | 'unknown';
}

const ARRIVED: CardDecision = { end: 'rcs', mayArrive: true };
const NOT_SENT: CardDecision = { end: 'not_sent', mayArrive: 'unknown' };
/** No gateway confirmed the delivery in time. */
export const LATE: CardDecision = { end: 'not_delivered', mayArrive: 'unknown' };
export const NOT_CLAIMED: CardDecision = { end: 'not_taken', mayArrive: false };
export const FAILED: CardDecision = { end: 'failed', mayArrive: false };

export const decisionOf = (finalChannel: FinalChannel): CardDecision => (finalChannel === 'rcs' ? ARRIVED : NOT_SENT);
