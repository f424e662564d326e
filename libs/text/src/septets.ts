const SEPTET_BITS = 7;
const OCTET_BITS = 8;
const SEPTET_MASK = 0x7f;
/** This many septets fill seven octets. */
const SEPTETS_IN_BLOCK = 8;
const CARRIAGE_RETURN = 0x0d;

/**
 * Packs septets, given one per octet, eight into seven octets (3GPP TS 23.038, 6.1.2.1.1). The eighth bit of each is
 * ignored; unused bits of the last octet are zero. `fillBits` as in `fillBitsAfter`.
 */
export function packSeptets(septets: Uint8Array, fillBits = 0): Buffer {
  const packed = Buffer.alloc(Math.ceil((septets.length * SEPTET_BITS + fillBits) / OCTET_BITS));
  septets.forEach((septet, index) => {
    const bit = index * SEPTET_BITS + fillBits;
    const shifted = (septet & SEPTET_MASK) << (bit % OCTET_BITS);
    const at = Math.floor(bit / OCTET_BITS);
    packed[at] = (packed[at] ?? 0) | (shifted & 0xff);
    if (shifted > 0xff) packed[at + 1] = shifted >>> OCTET_BITS;
  });
  return packed;
}

/**
 * Septets to pack for a peer that counts octets: if seven bits would be unused, or a carriage return ends the last
 * octet, a carriage return is appended, so that zeros are not decoded as `@` (3GPP TS 23.038, 6.1.2.3.1).
 */
export function paddedSeptets(septets: Uint8Array): Uint8Array {
  const over = septets.length % SEPTETS_IN_BLOCK;
  const ends = over === SEPTETS_IN_BLOCK - 1 || (over === 0 && septets.at(-1) === CARRIAGE_RETURN);
  return ends ? Uint8Array.of(...septets, CARRIAGE_RETURN) : septets;
}

/**
 * Unpacks septets, one per octet. SMPP counts octets, so without `septets` their number is ambiguous in one case:
 * seven unused bits may be padding or a last `@`. They are treated as padding, since zero fills an octet, and so is a
 * carriage return there.
 */
export function unpackSeptets(packed: Uint8Array, septets?: number, fillBits = 0): Buffer {
  const capacity = Math.max(Math.floor((packed.length * OCTET_BITS - fillBits) / SEPTET_BITS), 0);
  const unpacked = Buffer.alloc(Math.min(septets ?? capacity, capacity));
  // The bits that are read and not written yet, lowest first.
  let bits = (packed[0] ?? 0) >>> fillBits;
  let held = OCTET_BITS - fillBits;
  let next = 1;
  for (let index = 0; index < unpacked.length; index += 1) {
    if (held < SEPTET_BITS) {
      bits |= (packed[next] ?? 0) << held;
      next += 1;
      held += OCTET_BITS;
    }
    unpacked[index] = bits & SEPTET_MASK;
    bits >>>= SEPTET_BITS;
    held -= SEPTET_BITS;
  }
  return septets === undefined && endsInPadding(packed, unpacked, fillBits) ? unpacked.subarray(0, -1) : unpacked;
}

/** Bits between a user data header of that many octets (including its length octet) and the first septet after it. */
export function fillBitsAfter(headerOctets: number): number {
  return (SEPTET_BITS - ((headerOctets * OCTET_BITS) % SEPTET_BITS)) % SEPTET_BITS;
}

function endsInPadding(packed: Uint8Array, unpacked: Uint8Array, fillBits: number): boolean {
  const spareBits = packed.length * OCTET_BITS - fillBits - (unpacked.length - 1) * SEPTET_BITS;
  return spareBits === SEPTET_BITS && (unpacked.at(-1) === 0 || unpacked.at(-1) === CARRIAGE_RETURN);
}
