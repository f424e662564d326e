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
const BASIC_SIZE = 0x80;

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
 */
export function decodeGsm(octets: Uint8Array): string {
  let text = '';
  for (let index = 0; index < octets.length; index += 1) {
    const octet = octets[index] ?? 0;
    if (octet === ESCAPE) {
      index += 1;
      text += escaped(octets[index]);
    } else {
      text += plain(octet);
    }
  }
  return text;
}

function escaped(octet: number | undefined): string {
  if (octet === undefined) return '';
  if (octet === ESCAPE) return ' ';
  return EXTENSION.get(octet) ?? plain(octet);
}

function plain(octet: number): string {
  return octet < BASIC_SIZE ? BASIC.charAt(octet) : String.fromCharCode(octet);
}
