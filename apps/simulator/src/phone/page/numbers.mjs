/** Countries whose calling code has one digit, and those of two; all others have three (ITU-T E.164, list of codes). */
const ONE_DIGIT = /^[17]/;
const TWO_DIGITS = /^(?:2[07]|3[0123469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;
const E164 = /^\+[1-9][0-9]{6,14}$/;

/** A typed number as E.164, or null: with its plus or `00`, and any usual separators. */
export function parseNumber(typed) {
  const digits = typed.replace(/[\s().\-/\u00a0\u2010-\u2015]/g, '').replace(/^00/, '+');
  return E164.test(digits) ? digits : null;
}

function callingCodeLength(digits) {
  if (ONE_DIGIT.test(digits)) return 1;
  return TWO_DIGITS.test(digits) ? 2 : 3;
}

/** Groups of three, the last of two to four, so that no digit stands alone. */
function grouped(digits) {
  const groups = [];
  let rest = digits;
  while (rest.length > 4) {
    groups.push(rest.slice(0, 3));
    rest = rest.slice(3);
  }
  return [...groups, rest].join(' ');
}

/** `+14155552671` as `+1 415 555 2671`; a short code or a name is unchanged. For display only. */
export function formatNumber(address) {
  if (!E164.test(address)) return address;
  const digits = address.slice(1);
  const cut = callingCodeLength(digits);
  return `+${digits.slice(0, cut)} ${grouped(digits.slice(cut))}`;
}

/** A number as a screen reader should say it, digit by digit. */
export const spokenNumber = (address) => (E164.test(address) ? address.split('').join(' ') : address);
