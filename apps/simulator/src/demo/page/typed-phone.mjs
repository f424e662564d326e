/** Separators that people type in numbers. */
const ORNAMENTS = /[\s().\-\u00a0\u2010-\u2015/]/g;
/** A national number of North America, with or without the leading 1. */
const NORTH_AMERICAN = /^1?([2-9]\d{9})$/;

/**
 * A typed number as E.164, or null. A number without a country code counts as North American, as the field's
 * placeholder suggests; the service decides whether it is routable.
 */
export function readTypedPhone(text) {
  const digits = text.trim().replace(ORNAMENTS, '').replace(/^00/, '+');
  const national = NORTH_AMERICAN.exec(digits)?.[1];
  if (national !== undefined) return `+1${national}`;
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : null;
}
