/** Characters of one septet each, at their code points (3GPP TS 23.038, 6.2.1). The escape is 0x1B. */
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà';

/** Characters after an escape (3GPP TS 23.038, 6.2.1.1): two septets each. */
const EXTENSION: ReadonlyMap<number, string> = new Map([
  [0x0a, '\f'],
  [0x14, '^'],
  [0x28, '{'],
  [0x29, '}'],
  [0x2f, '\\'],
  [0x3c, '['],
  [0x3d, '~'],
  [0x3e, ']'],
  [0x40, '|'],
  [0x65, '€'],
]);

const ESCAPE = 0x1b;
const SPACE = 0x20;
const BASIC_SIZE = 0x80;
const OCTET_VALUES = 0x100;

/** The UTF-16 code unit of each octet; above 0x7F Latin-1. */
const UNITS = Uint16Array.from({ length: OCTET_VALUES }, (_, octet) =>
  octet < BASIC_SIZE ? BASIC.charCodeAt(octet) : octet,
);

/** The UTF-16 code unit of each octet after an escape. */
const ESCAPED_UNITS = Uint16Array.from({ length: OCTET_VALUES }, (_, octet) => {
  if (octet === ESCAPE) return SPACE;
  return EXTENSION.get(octet)?.charCodeAt(0) ?? UNITS[octet] ?? octet;
});

/** Septets of one SMS without a user data header. */
export const GSM_SEGMENT_SEPTETS = 160;

/** The octets of each character, unpacked: one for the basic table, escape and code for the extension. */
const OCTETS: ReadonlyMap<string, readonly number[]> = new Map([
  ...Array.from(BASIC, (character, code): [string, readonly number[]] => [character, [code]]).filter(
    ([, [code]]) => code !== ESCAPE,
  ),
  ...Array.from(EXTENSION, ([code, character]): [string, readonly number[]] => [character, [ESCAPE, code]]),
]);

/**
 * Number of septets of a text, characters of the extension table counted twice; null for a character outside GSM
 * 03.38.
 */
export function gsmSeptets(text: string): number | null {
  let septets = 0;
  for (const character of text) {
    const octets = OCTETS.get(character);
    if (octets === undefined) return null;
    septets += octets.length;
  }
  return septets;
}

/**
 * Encodes a text as unpacked GSM 03.38, one septet per octet; null for a character outside the alphabet, never a
 * replacement.
 */
export function encodeGsm(text: string): Buffer | null {
  const octets: number[] = [];
  for (const character of text) {
    const encoded = OCTETS.get(character);
    if (encoded === undefined) return null;
    octets.push(...encoded);
  }
  return Buffer.from(octets);
}

/**
 * Decodes unpacked GSM 03.38, for any octets: an unknown extension gives the character of the basic table (as the
 * standard requires), a doubled escape a space, a single one at the end nothing, and octets above 0x7F are decoded as
 * Latin-1, which is the intention of peers that send them.
 *
 * Nearly every text has only characters of Latin-1, and is decoded into half the octets.
 */
export function decodeGsm(octets: Uint8Array): string {
  return decodeUnits(octets, 'latin1') ?? decodeUnits(octets, 'utf16le') ?? '';
}

/**
 * Decodes by tables into one buffer, whose strings are flat: a text that is joined character by character takes three
 * times as long to decode and to search. Null for a character that `encoding` does not have; UTF-16 has them all.
 */
function decodeUnits(octets: Uint8Array, encoding: 'latin1' | 'utf16le'): string | null {
  const unitOctets = encoding === 'latin1' ? 1 : 2;
  const text = Buffer.allocUnsafe(octets.length * unitOctets);
  let length = 0;
  for (let index = 0; index < octets.length; index += 1) {
    let octet = octets[index] ?? 0;
    let table = UNITS;
    if (octet === ESCAPE) {
      index += 1;
      if (index === octets.length) break;
      octet = octets[index] ?? 0;
      table = ESCAPED_UNITS;
    }
    const unit = table[octet] ?? octet;
    text[length] = unit;
    if (unitOctets === 2) text[length + 1] = unit >>> 8;
    else if (unit >= OCTET_VALUES) return null;
    length += unitOctets;
  }
  return text.toString(encoding, 0, length);
}
