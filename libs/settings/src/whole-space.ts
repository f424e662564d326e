import ipaddr from 'ipaddr.js';

/** First and last address of a range, as numbers. */
type Interval = readonly [first: bigint, last: bigint];

const BITS = { ipv4: 32n, ipv6: 128n } as const;

/** Whether the ranges together contain every IPv4 address, or every IPv6 address. Each is a CIDR text. */
export function coverWholeSpace(cidrs: readonly string[]): boolean {
  const ranges = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (['ipv4', 'ipv6'] as const).some((kind) => {
    const ofKind = ranges.filter(([network]) => network.kind() === kind);
    return isWhole(
      ofKind.map(([network, length]) => intervalOf(network, BigInt(length), BITS[kind])),
      BITS[kind],
    );
  });
}

/** Prefixes shorter than these hold more addresses than the proxies of one installation need. */
const WIDEST_BITS = { ipv4: 8, ipv6: 16 } as const;
/** Bits before the IPv4 address in an IPv4-mapped one (RFC 4291, section 2.5.5.2). */
const MAPPED_BITS = 96;

/** Whether a range, a CIDR text, is wider than /8 of IPv4 (as IPv4-mapped IPv6, too) or /16 of IPv6. */
export function isWideRange(cidr: string): boolean {
  const [network, length] = ipaddr.parseCIDR(cidr);
  if (network instanceof ipaddr.IPv4) return length < WIDEST_BITS.ipv4;
  if (network.isIPv4MappedAddress() && length >= MAPPED_BITS) return length - MAPPED_BITS < WIDEST_BITS.ipv4;
  return length < WIDEST_BITS.ipv6;
}

function intervalOf(network: ipaddr.IPv4 | ipaddr.IPv6, length: bigint, bits: bigint): Interval {
  const address = network.toByteArray().reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
  const hostBits = bits - length;
  const first = (address >> hostBits) << hostBits;
  return [first, first + (1n << hostBits) - 1n];
}

function isWhole(intervals: readonly Interval[], bits: bigint): boolean {
  let next = 0n;
  for (const [first, last] of [...intervals].sort(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    if (first > next) return false;
    if (last >= next) next = last + 1n;
  }
  return next === 1n << bits;
}
