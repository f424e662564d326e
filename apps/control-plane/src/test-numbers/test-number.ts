import type { Channel } from '@countersign/session/rules';

/** What the phone behind a number does a second after its session was made. `wrong_sender`: another phone sends the SMS. */
export type TestAct = 'sms' | 'wrong_sender' | 'approve_card' | 'deny_card';

/** What becomes of a code that is sent to a number, or why none is. */
export type TestCodeFate = 'delivered' | 'undelivered' | 'blocked';

/** How a number behaves for a test key (contract, Test keys). */
export interface TestNumber {
  /** Whether a session can be made for it at all. */
  readonly accepted: boolean;
  /** The delivery path of its sessions, where the caller does not force SMS. */
  readonly channel: Channel;
  /** Null for a phone that never answers. */
  readonly act: TestAct | null;
  readonly code: TestCodeFate;
}

/** The code of every session of a test key. */
export const TEST_CODE = '424242';

/** The numbers have a plan of their own: that of the country in whose form they are written. */
export const TEST_COUNTRY = 'US';

/** Any number that is not in the table: it takes codes and never sends an SMS. */
const ORDINARY: TestNumber = { accepted: true, channel: 'sms_fallback', act: null, code: 'delivered' };

const TABLE: ReadonlyMap<string, TestNumber> = new Map([
  ['+15005550001', { ...ORDINARY, act: 'sms' }],
  ['+15005550002', { ...ORDINARY, channel: 'rcs', act: 'approve_card' }],
  ['+15005550003', { ...ORDINARY, channel: 'rcs', act: 'deny_card' }],
  ['+15005550004', ORDINARY],
  ['+15005550005', { ...ORDINARY, act: 'wrong_sender' }],
  ['+15005550006', ORDINARY],
  ['+15005550007', { ...ORDINARY, code: 'undelivered' }],
  ['+15005550008', { ...ORDINARY, code: 'blocked' }],
  ['+15005550009', { ...ORDINARY, accepted: false }],
]);

/** Whether the number is one of the table: no live session is ever made for it. */
export const isTestNumber = (phone: string): boolean => TABLE.has(phone);

/** How the number behaves for a test key. */
export const testNumberOf = (phone: string): TestNumber => TABLE.get(phone) ?? ORDINARY;

/** A number whose phone does something by itself, where a session of it went this way. */
export interface ActingNumber {
  readonly phone: string;
  readonly channel: Channel;
  readonly act: TestAct;
}

export const ACTING_NUMBERS: readonly ActingNumber[] = [...TABLE].flatMap(([phone, { channel, act }]) =>
  act === null ? [] : [{ phone, channel, act }],
);
