import { isCountry } from '@countersign/phone';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';

/*
 * The words in which bodies of the admin API say what a field must be. A change is declared first, all of it optional; the
 * body of a create extends it, declares what a change may not touch, and says which fields it requires.
 */

/** May be left out, and then stays as it is. Not null. */
export const Optional = (): PropertyDecorator => ValidateIf((_body: object, value: unknown) => value !== undefined);

/** May be left out, or be null for "none". */
export const Nullable = (): PropertyDecorator =>
  ValidateIf((_body: object, value: unknown) => value !== undefined && value !== null);

/** For a create: a field that the class it extends has as an optional one must be there. */
export const Required = (): PropertyDecorator =>
  applyDecorators(
    ValidateIf(() => true),
    ApiProperty({ required: true }),
  );

/** The message is for the engineer, and begins with the name of the field. */
export function Satisfies(
  test: (value: unknown) => boolean,
  message: string,
  within?: (value: unknown) => string | undefined,
): PropertyDecorator {
  const options = failsWith(message, within === undefined ? {} : { within });
  return ValidateBy({ name: 'satisfies', validator: { validate: test } }, options);
}

const CONTROL_CHARACTER = /\p{Cc}/u;

/** One line of text that is not blank. */
export const isLine =
  (maxCharacters: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= 2 * maxCharacters &&
    Array.from(value).length <= maxCharacters &&
    !CONTROL_CHARACTER.test(value);

/** A text of that form. */
export const isText =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value);

/** A list of different texts, each of which passes. */
export const isListOf =
  (test: (text: string) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    new Set<unknown>(value).size === value.length &&
    value.every((item: unknown) => typeof item === 'string' && test(item));

/** ISO 3166-1 alpha-2, or `*` for every country. */
export const isCountryOrEvery = (text: string): boolean => text === '*' || isCountry(text);
