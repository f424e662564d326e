import type { Mode } from '@countersign/keys';
import type { Channel } from '@countersign/session/rules';
import { isTestNumber, TEST_COUNTRY, testNumberOf } from './test-number.js';

/** What is decided of a session by its phone. */
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
  /** Null when no number plan has the phone. */
  readonly country: string | null;
}

/**
 * Country and channel of a session for this phone; null when it cannot be verified. Only test numbers have a channel from
 * the start, since they act their cards out; every other session is `sms_fallback` until a card has arrived. A live key
 * cannot verify a test number: there is no phone behind it.
 */
export function planSession({ mode, phone, channel, country }: PlanRequest): SessionPlan | null {
  if (!isTestNumber(phone)) return country === null ? null : { country, channel: 'sms_fallback' };
  if (mode === 'live') return null;
  const number = testNumberOf(phone);
  if (!number.accepted) return null;
  return { country: TEST_COUNTRY, channel: channel === 'sms_fallback' ? channel : number.channel };
}
