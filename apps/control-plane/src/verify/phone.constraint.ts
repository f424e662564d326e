import { checkPhone, type PhoneCheck } from '@countersign/phone';
import { ValidateBy, type ValidationOptions } from 'class-validator';
import { isTestNumber } from '../test-numbers/test-number.js';

/** How many checks are remembered: a request asks twice for the same number, once for its validity and once for its country. */
const REMEMBERED_CHECKS = 1024;

/** A plus sign and 15 digits: what is longer is no number, and is not kept. */
const LONGEST_PHONE = 16;

const remembered = new Map<string, PhoneCheck>();

/** `checkPhone`, remembered for the numbers that came last: the library's price is a tenth of a whole request's. */
export function recentPhoneCheck(text: string): PhoneCheck {
  if (text.length > LONGEST_PHONE) return checkPhone(text);
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const check = checkPhone(text);
  for (const oldest of remembered.keys()) {
    if (remembered.size < REMEMBERED_CHECKS) break;
    remembered.delete(oldest);
  }
  remembered.set(text, check);
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
