import ipaddr from 'ipaddr.js';

export type AddressRange = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, prefixLength: number];

/** Parses CIDR texts such as `10.0.0.0/8`; an address without a prefix is a range of one. Throws on anything else. */
export function parseRanges(cidrs: readonly string[]): AddressRange[] {
  return cidrs.map((cidr) => {
    if (cidr.includes('/')) return ipaddr.parseCIDR(cidr);
    const address = ipaddr.process(cidr);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
}

/** Whether an address lies in one of the ranges. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function inRanges(address: string, ranges: readonly AddressRange[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return ranges.some(([network, prefixLength]) => {
    if (parsed instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && parsed.match(network, prefixLength);
    return network instanceof ipaddr.IPv6 && parsed.match(network, prefixLength);
  });
}

/** The IPv6 prefix of one client (RFC 6177), which can use all addresses of it. */
const IPV6_CLIENT_BITS = 64;

/** The network by which a client is counted: the address itself for IPv4, its /64 for IPv6; null for text that is no address. */
export function networkOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${IPV6_CLIENT_BITS}`).toString();
}
