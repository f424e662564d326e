import type { Channel } from '@countersign/session/rules';

/**
 * The action of a simulated phone one second after its session was created. `wrong_sender`: another phone sends the SMS.
 */
export type TestAct = 'sms' | 'wrong_sender' | 'approve_card' | 'deny_card';

/** The outcome of a code to a number. `blocked`: the guard refuses it. */
export type TestCodeOutcome = 'delivered' | 'undelivered' | 'blocked';

/** How a number behaves for a test key (contract, Test keys). */
export interface TestNumber {
  /** Whether a session can be created for the number. */
  readonly accepted: boolean;
  /** The delivery path of its sessions, unless the caller requests SMS. */
  readonly channel: Channel;
  /** Null for a phone that never answers. */
  readonly act: TestAct | null;
  readonly code: TestCodeOutcome;
}

/** The code of every session of a test key. */
export const TEST_CODE = '424242';

/** Test numbers are outside the real number plan, so their country is fixed: the country of their prefix. */
export const TEST_COUNTRY = 'US';

/** Every number outside the table: it receives codes and never sends an SMS. */
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

/** Whether the number is in the table. Live sessions cannot be created for these numbers. */
export const isTestNumber = (phone: string): boolean => TABLE.has(phone);

/** How the number behaves for a test key. */
export const testNumberOf = (phone: string): TestNumber => TABLE.get(phone) ?? ORDINARY;

/** A number whose simulated phone acts for sessions of this channel. */
export interface ActingNumber {
  readonly phone: string;
  readonly channel: Channel;
  readonly act: TestAct;
}

export const ACTING_NUMBERS: readonly ActingNumber[] = [...TABLE].flatMap(([phone, { channel, act }]) =>
  act === null ? [] : [{ phone, channel, act }],
);
