import { checkPhone } from '@countersign/phone';
import { ValidateBy, type ValidationOptions } from 'class-validator';
import { isTestNumber } from '../test-numbers/test-number.js';

/**
 * E.164 and a number that can exist (contract, `INVALID_PHONE`). Test numbers always pass: this constraint does not know
 * the kind of the key, so `planSession` checks them again.
 */
export function IsRoutablePhone(options: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown) => typeof value === 'string' && (isTestNumber(value) || checkPhone(value).ok);
  return ValidateBy({ name: 'isRoutablePhone', validator: { validate } }, options);
}
