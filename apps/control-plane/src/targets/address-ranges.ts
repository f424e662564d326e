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

/** The network by which a client is counted: the address itself for IPv4, its /64 or a shorter prefix for IPv6; null for text that is no address. */
export function networkOf(address: string, ipv6Bits = IPV6_CLIENT_BITS): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${ipv6Bits}`).toString();
}

/**
 * Addresses at which clouds serve metadata and credentials to their machines. Only the first is public; the others are listed
 * because an allowed range may contain them.
 */
const CLOUD_SERVICES_V4 = [
  // Azure WireServer.
  '168.63.129.16/32',
  // AWS, Google, Azure, Oracle, OpenStack, DigitalOcean and others, on link-local addresses; ECS and EKS credentials too.
  '169.254.0.0/16',
  // Oracle (legacy).
  '192.0.0.192/32',
  // Alibaba.
  '100.100.100.200/32',
];
const CLOUD_SERVICES = parseRanges([
  ...CLOUD_SERVICES_V4,
  // The same addresses behind NAT64 (RFC 6052, 2.1).
  ...CLOUD_SERVICES_V4.map((range) => `64:ff9b::${range.replace(/\d+$/, (bits) => String(Number(bits) + 96))}`),
  'fe80::/10',
  // AWS over IPv6: metadata, name server, time, credentials of pods.
  'fd00:ec2::/32',
  // Google over IPv6.
  'fd20:ce::/32',
  // Oracle and Scaleway over IPv6.
  'fd00:c1::/32',
  'fd00:42::/32',
]);

/** Whether a cloud serves metadata or credentials to its machines at an address. False for text that is no address. */
export const isCloudService = (address: string): boolean => inRanges(address, CLOUD_SERVICES);
