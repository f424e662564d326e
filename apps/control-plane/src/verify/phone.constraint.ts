import { checkPhone, type PhoneCheck } from '@countersign/phone';
import { ValidateBy, type ValidationOptions } from 'class-validator';
import { isTestNumber } from '../test-numbers/test-number.js';

/** Cached checks at least: a request checks the same number twice, for its validity and for its country. */
const REMEMBERED_CHECKS = 512;

/** A plus sign and 15 digits: what is longer is no number, and is not kept. */
const LONGEST_PHONE = 16;

/** Two generations of the cache: deleting the oldest entry of one map for each new number costs twice as much. */
let latest = new Map<string, PhoneCheck>();
let earlier: ReadonlyMap<string, PhoneCheck> = new Map();

/** `checkPhone`, remembered for the numbers that came last: the library's price is a tenth of a whole request's. */
export function recentPhoneCheck(text: string): PhoneCheck {
  if (text.length > LONGEST_PHONE) return checkPhone(text);
  const known = latest.get(text) ?? earlier.get(text);
  if (known !== undefined) return known;
  const check = checkPhone(text);
  if (latest.size >= REMEMBERED_CHECKS) {
    earlier = latest;
    latest = new Map();
  }
  latest.set(text, check);
  return check;
}

/**
 * E.164 and a number that can exist (contract, `INVALID_PHONE`). Test numbers pass whatever the number plan says of them:
 * whose key it is, is not known here, and the service asks again.
 */
export function IsRoutablePhone(options: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown) => typeof value === 'string' && (isTestNumber(value) || recentPhoneCheck(value).ok);
  return ValidateBy({ name: 'isRoutablePhone', validator: { validate } }, options);
}
