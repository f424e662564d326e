const BIG_ENDIAN_MARK = 0xfeff;
const LITTLE_ENDIAN_MARK = 0xfffe;
const UNIT_OCTETS = 2;
/** Shorter texts are never tested for swapped octets: an ideograph may equal a swapped letter. */
const JUDGED_FROM_UNITS = 8;

/** Encodes a text as big-endian UTF-16 without a byte order mark: UCS-2 in SMPP, with surrogate pairs. */
export function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

/**
 * Decodes UCS-2, for any octets: big-endian unless a byte order mark says otherwise or only the swapped text is
 * plausible (some handsets swap without a mark). The mark is not part of the text; an odd last octet is ignored.
 */
export function decodeUcs2(octets: Uint8Array): string {
  const units = Buffer.from(octets.subarray(0, octets.length - (octets.length % UNIT_OCTETS)));
  if (units.length === 0) return '';
  const first = units.readUInt16BE(0);
  if (first === LITTLE_ENDIAN_MARK) return units.toString('utf16le', UNIT_OCTETS);
  const start = first === BIG_ENDIAN_MARK ? UNIT_OCTETS : 0;
  if (start === 0 && looksSwapped(units)) return units.toString('utf16le');
  return units.swap16().toString('utf16le', start);
}

/**
 * Swapped ASCII consists of ideographs and symbols whose low octet is zero. More than half of the units must be
 * printable ASCII when swapped, and none may be below U+0100 unswapped.
 */
function looksSwapped(units: Buffer): boolean {
  let ascii = 0;
  for (let at = 0; at < units.length; at += UNIT_OCTETS) {
    const high = units.readUInt8(at);
    if (high === 0) return false;
    if (high >= 0x20 && high < 0x7f && units.readUInt8(at + 1) === 0) ascii += 1;
  }
  const count = units.length / UNIT_OCTETS;
  return count >= JUDGED_FROM_UNITS && ascii * 2 > count;
}
