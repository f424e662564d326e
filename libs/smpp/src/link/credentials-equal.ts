import { timingSafeEqual } from 'node:crypto';

/** Longer than any system_id or password of SMPP, in octets: both sides of a comparison have this length. */
const COMPARED_OCTETS = 16;

/** Whether two system_ids or passwords are equal, in constant time for every pair that fits its field. */
export const credentialsEqual = (one: string, other: string): boolean => timingSafeEqual(padded(one), padded(other));

function padded(text: string): Buffer {
  const octets = Buffer.alloc(COMPARED_OCTETS);
  octets.write(text, 'latin1');
  return octets;
}
