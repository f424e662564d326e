import { maskPhone } from '@countersign/phone';
import { parseId } from '@countersign/ids';
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { Optional, Satisfies } from './fields.js';
import { idField } from './view-fields.js';

/*
 * Query parameters that filter lists, with their descriptions and messages.
 */

/** Filters by an id with that prefix. */
export const OnlyOf = (field: string, prefix: string, noun: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional(idField(prefix, { description: `Only rows of this ${noun}.` })),
    Satisfies(
      (value) => typeof value === 'string' && parseId(prefix, value) !== null,
      `${field} must be the id of a ${noun}.`,
    ),
    Optional(),
  );

/** Filters by a number in E.164. An unescaped plus sign arrives as a space and is restored: see `numberOf`. */
export const OnlyOfPhone = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      description:
        'Only rows of this number, E.164; write its plus sign as `%2B`. Refused (403) for the role `viewer`.',
      example: '+14155552671',
    }),
    Matches(/^[+ ][1-9][0-9]{1,14}$/, failsWith('phone must be in E.164 format.', { code: 'INVALID_PHONE' })),
    Optional(),
  );

/** The parameter `test`: rows of test mode or live rows; both without it. */
export const OnlyOfMode = (): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({
      type: 'string',
      enum: ['true', 'false'],
      description: '`true` for rows of test keys, `false` for live rows; both when omitted.',
    }),
    IsIn(['true', 'false'], failsWith('test must be true or false.')),
    Optional(),
  );

export const numberOf = (phone: string | undefined): string | undefined => phone?.replace(' ', '+');

/** The filter `phone` in audit entries: masked. */
export function maskedNumberOf(phone: string | undefined): string | undefined {
  const number = numberOf(phone);
  return number === undefined ? undefined : maskPhone(number);
}

export const uuidOf = (prefix: string, id: string | undefined): string | undefined =>
  id === undefined ? undefined : (parseId(prefix, id) ?? undefined);
