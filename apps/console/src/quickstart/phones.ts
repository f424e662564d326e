/** Numbers of test mode, with what happens to a session of each (/docs/test-keys). */
export const TEST_PHONES = [
  ['+15005550001', 'approved by SMS after a second'],
  ['+15005550002', 'approved on a card after a second'],
  ['+15005550003', 'denied on a card after a second'],
  ['+15005550005', 'an SMS from another number: stays pending'],
  ['+15005550004', 'nobody answers: expires'],
] as const;

/** A number for the simulated phone of `npm start`. */
export const EXAMPLE_PHONE = '+14155552671';

/** Only what belongs to a number, so that it can stand in a command. */
export const phoneOf = (typed: string): string => typed.replaceAll(/[^+\d]/g, '');
