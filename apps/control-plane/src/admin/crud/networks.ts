import ipaddr from 'ipaddr.js';

/** Maximum number of networks in one list. */
export const MAX_NETWORKS = 100;

/** A network in stored form, an address alone with its full prefix length; null for any other text. */
export function networkOf(text: string): string | null {
  const network = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  // The library also accepts `10/8`, and zones, whose meaning depends on the machine.
  if (network.includes('%')) return null;
  const known = ipaddr.IPv4.isValidCIDRFourPartDecimal(network) || ipaddr.IPv6.isValidCIDR(network);
  return known ? network : null;
}
