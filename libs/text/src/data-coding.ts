import { decodeGsm } from './gsm.js';
import { unpackSeptets } from './septets.js';
import { decodeUcs2 } from './ucs2.js';

/** A carrier's default alphabet, a setting of its bind; packed is GSM with eight septets in seven octets. */
export type DefaultAlphabet = 'gsm' | 'latin1' | 'ascii' | 'gsm-packed';

/** How the octets of a message are decoded: by the carrier's default, as UCS-2, or octet by octet as Latin-1. */
type Alphabet = 'default' | 'latin1' | 'ucs2';

const DATA_CODINGS = 256;

/** The two alphabet bits of a general data coding group; binary and the reserved value are decoded as Latin-1. */
const GENERAL: readonly Alphabet[] = ['default', 'latin1', 'ucs2', 'latin1'];

/**
 * The alphabet of each of the 256 values of data_coding: SMPP 3.4, 5.2.19 up to 0x0F, above that the groups of 3GPP
 * TS 23.038, 4. Undefined values, 8-bit data, compressed text and SMPP's national sets (whose lower half is ASCII
 * except for JIS) are decoded as Latin-1: nothing is lost, and a token in ASCII is found.
 */
const ALPHABETS: readonly Alphabet[] = Array.from({ length: DATA_CODINGS }, (_, dataCoding) => alphabetOf(dataCoding));

function alphabetOf(dataCoding: number): Alphabet {
  switch (dataCoding >>> 4) {
    case 0x0:
      if (dataCoding === 0) return 'default';
      return dataCoding === 8 ? 'ucs2' : 'latin1';
    case 0x1: // with a message class
    case 0x4: // deleted by the phone once read
    case 0x5: // both
      return GENERAL[(dataCoding >>> 2) & 3] ?? 'latin1';
    case 0xc: // message waiting, text may be discarded
    case 0xd: // message waiting, text stored
      return 'default';
    case 0xe: // message waiting, text stored, UCS-2
      return 'ucs2';
    case 0xf: // message class, bit 2 says 8-bit data
      return (dataCoding & 4) === 0 ? 'default' : 'latin1';
    default:
      return 'latin1';
  }
}

/** Whether text under this data_coding is UCS-2. */
export const isUcs2 = (dataCoding: number): boolean => ALPHABETS[dataCoding & 0xff] === 'ucs2';

/**
 * Decodes the text of a message. Total: any octets under any data_coding give a text, without an exception. IA5 is
 * decoded as Latin-1, of which it is the lower half: stripping the eighth bit would turn "é" into "i".
 *
 * `fillBits` matters only to packed text after a user data header (see `fillBitsAfter`).
 */
export function decodeText(
  octets: Uint8Array,
  dataCoding: number,
  defaultAlphabet: DefaultAlphabet,
  fillBits = 0,
): string {
  switch (ALPHABETS[dataCoding & 0xff]) {
    case 'default':
      return decodeDefault(octets, defaultAlphabet, fillBits);
    case 'ucs2':
      return decodeUcs2(octets);
    default:
      return decodeLatin1(octets);
  }
}

function decodeDefault(octets: Uint8Array, alphabet: DefaultAlphabet, fillBits: number): string {
  switch (alphabet) {
    case 'gsm':
      return decodeGsm(octets);
    case 'gsm-packed':
      return decodeGsm(unpackSeptets(octets, undefined, fillBits));
    case 'latin1':
    case 'ascii':
      return decodeLatin1(octets);
  }
}

function decodeLatin1(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}
