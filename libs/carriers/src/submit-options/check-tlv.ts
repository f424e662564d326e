import { faultAt, type OptionFault } from './checks.js';
import { OPTION_LIMITS, type TlvOption } from './submit-options.js';
import { integerOctets, isIntegerType, PLACEHOLDER, PLACEHOLDER_OCTETS } from './tlv-octets.js';
import { isSetByConcatenation, octetsOfTag, tagOf } from './tlv-tags.js';

const PRINTABLE = /^[\x20-\x7e]*$/;
const HEX = /^(?:[0-9a-f]{2})*$/i;

/** The first fault in TLVs of the right types. */
export function tlvFault(tlvs: readonly TlvOption[]): OptionFault | null {
  const tags = new Set<number>();
  for (const [at, tlv] of tlvs.entries()) {
    const tag = tagOf(tlv.tag);
    if (tag === null)
      return faultAt(
        [at, 'tag'],
        'must be a number from 0 to 65535, a text such as "0x1400", or the name of a TLV of SMPP or of a vendor',
      );
    if (isSetByConcatenation(tag)) return faultAt([at, 'tag'], 'is set by concatenation');
    if (tags.has(tag)) return faultAt([at, 'tag'], 'is given twice');
    tags.add(tag);
    const fault = valueFault(tlv, octetsOfTag(tag));
    if (fault !== null) return faultAt([at, 'value'], fault);
  }
  return null;
}

/** @param octets of an integer of SMPP; null for a value of any length */
function valueFault(tlv: TlvOption, octets: number | null): string | null {
  const length = lengthsOf(tlv);
  if (typeof length === 'string') return length;
  if (octets !== null && (length.least !== octets || length.most !== octets))
    return `must be a value of ${octets} octets for this TLV: use the type uint${8 * octets}`;
  return length.most <= OPTION_LIMITS.tlvOctets
    ? null
    : `must have at most ${OPTION_LIMITS.tlvOctets} octets; with its placeholders it may have ${length.most}`;
}

/** The least and most octets of a value, or its fault. */
function lengthsOf({ type, value }: TlvOption): { readonly least: number; readonly most: number } | string {
  if (isIntegerType(type)) {
    const octets = integerOctets(type);
    const highest = 2 ** (8 * octets) - 1;
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= highest;
    return isRight ? { least: octets, most: octets } : `must be a whole number from 0 to ${highest}`;
  }
  if (typeof value !== 'string') return 'must be a text';
  if (type === 'hex')
    return HEX.test(value)
      ? { least: value.length / 2, most: value.length / 2 }
      : 'must be pairs of hexadecimal digits';
  return lengthsOfText(value, type === 'cstring' ? 1 : 0);
}

function lengthsOfText(text: string, terminator: number): { readonly least: number; readonly most: number } | string {
  if (!PRINTABLE.test(text)) return 'must be printable characters of ASCII; use the type hex for others';
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  const octets = new Map<string, number>(Object.entries(PLACEHOLDER_OCTETS));
  if (names.some((name) => !octets.has(name)))
    return `must have no placeholders but ${[...octets.keys()].map((name) => `{{${name}}}`).join(', ')}`;
  const least = text.replaceAll(PLACEHOLDER, '').length + terminator;
  return { least, most: names.reduce((sum, name) => sum + (octets.get(name) ?? 0), least) };
}
