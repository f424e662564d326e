/** As people write numbers: what only helps the eye. */
const ORNAMENTS = /[\s().\-\u00a0\u2010-\u2015/]/g;
/** A national number of North America, with or without its 1. */
const NORTH_AMERICAN = /^1?([2-9]\d{9})$/;

/**
 * What a person typed as E.164, or null. A number without a country is taken as one of North America, as the placeholder
 * of the field suggests; whether it is routable is the service's to say.
 */
export function readTypedPhone(text) {
  const digits = text.trim().replace(ORNAMENTS, '').replace(/^00/, '+');
  const national = NORTH_AMERICAN.exec(digits)?.[1];
  if (national !== undefined) return `+1${national}`;
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : null;
}
