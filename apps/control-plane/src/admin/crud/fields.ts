import { isUsd } from '@countersign/accounts/prices';
import { isCountry } from '@countersign/phone';
import type { Type } from '@nestjs/common';
import { PartialType } from '@nestjs/swagger';
import { ValidateBy, ValidateIf } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { parseInstant } from '../../http/instant.js';

/*
 * The declarations of fields in bodies of the admin API. A create declares all fields, in the order in which they are
 * checked and documented; a change has the same fields, all optional, without those that never change.
 */

/** The field may be omitted, but not null. */
export const Optional = (): PropertyDecorator => ValidateIf((_body: object, value: unknown) => value !== undefined);

/** The field may be omitted, or null for "none". */
export const Nullable = (): PropertyDecorator =>
  ValidateIf((_body: object, value: unknown) => value !== undefined && value !== null);

/**
 * The body of a change, from the body of a create: every field may be omitted, and is nullable only if it was. Throws
 * for a field with an initial value, which every change would reset; defaults of a create belong in its store or
 * resource.
 */
export function ChangeOf<Draft extends object>(draft: Type<Draft>): Type<Partial<Draft>> {
  const [preset] = Object.keys(new draft());
  if (preset !== undefined)
    throw new Error(`every change would set ${preset}: leave it out, or give it no initial value`);
  return PartialType(draft, { skipNullProperties: false });
}

/** The message is for the engineer, and begins with the name of the field. */
export function Satisfies(
  test: (value: unknown) => boolean,
  message: string,
  within?: (value: unknown) => string | undefined,
): PropertyDecorator {
  const options = failsWith(message, within === undefined ? {} : { within });
  return ValidateBy({ name: 'satisfies', validator: { validate: test } }, options);
}

/** Control characters, lone surrogates, and the separators that some programs treat as line breaks. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** One line of text that is not blank. */
export const isLine =
  (maxCharacters: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= 2 * maxCharacters &&
    Array.from(value).length <= maxCharacters &&
    !NOT_IN_A_LINE.test(value);

/** A text that matches the pattern. */
export const isText =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value);

export const isWholeNumber =
  (low: number, high: number) =>
  (value: unknown): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;

/**
 * The faulty member of an object in a body: the first with an illegal value, or an unknown one. Null when there is
 * none, undefined when the value is no object. A test that accepts undefined makes its member optional.
 */
export const memberFault =
  (members: Readonly<Record<string, (value: unknown) => boolean>>) =>
  (value: unknown): string | null | undefined => {
    if (!(value instanceof Map)) return undefined;
    const sent = value as ReadonlyMap<string, unknown>;
    for (const [name, isRight] of Object.entries(members)) if (!isRight(sent.get(name))) return name;
    return [...sent.keys()].find((name) => !Object.hasOwn(members, name)) ?? null;
  };

/** A list of `least` to `most` different items, each of which passes the test. */
export const isListOf =
  (test: (item: unknown) => boolean, { least = 0, most = Infinity } = {}) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length >= least &&
    value.length <= most &&
    new Set<unknown>(value).size === value.length &&
    value.every(test);

/** One of the given values. */
export const isOneOf =
  (words: readonly unknown[]) =>
  (value: unknown): boolean =>
    words.includes(value);

/** ISO 3166-1 alpha-2, or `*` for every country. */
export const isCountryOrEvery = (value: unknown): boolean =>
  typeof value === 'string' && (value === '*' || isCountry(value));

/** US dollars, as text. */
export const isUsdText = (value: unknown): boolean => typeof value === 'string' && isUsd(value);

/** US dollars, as text or as a number of JSON. */
export const isUsdOrNumber = (value: unknown): boolean =>
  isUsdText(value) || (typeof value === 'number' && isUsd(String(value)));

/** A time with its offset (RFC 3339). */
export const isInstant = (value: unknown): boolean => typeof value === 'string' && parseInstant(value) !== null;
