import type { Mode } from '@countersign/keys';
import type { Channel } from '@countersign/session/rules';
import { isTestNumber, TEST_COUNTRY, testNumberOf } from './test-number.js';

/** The fields of a session that follow from its phone. */
export interface SessionPlan {
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  readonly channel: Channel;
}

export interface PlanRequest {
  readonly mode: Mode;
  readonly phone: string;
  /** The channel that the caller prefers. */
  readonly channel: Channel;
  /** Null if no number plan contains the phone. */
  readonly country: string | null;
}

/**
 * Country and channel of a session for this phone; null if it cannot be verified. Test numbers have their channel from the
 * start, because their cards are simulated; every other session is `sms_fallback` until a card has arrived. A live key
 * cannot verify a test number, because no phone has it.
 */
export function planSession({ mode, phone, channel, country }: PlanRequest): SessionPlan | null {
  if (!isTestNumber(phone)) return country === null ? null : { country, channel: 'sms_fallback' };
  if (mode === 'live') return null;
  const number = testNumberOf(phone);
  if (!number.accepted) return null;
  return { country: TEST_COUNTRY, channel: channel === 'sms_fallback' ? channel : number.channel };
}
