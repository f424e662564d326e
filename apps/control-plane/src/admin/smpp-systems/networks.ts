import ipaddr from 'ipaddr.js';

/** A network as it is stored, an address alone with the length of its prefix; null for what is none. */
export function networkOf(text: string): string | null {
  const network = text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`;
  // The library also takes `10/8` and zones, which say something else on each machine.
  if (network.includes('%')) return null;
  const known = ipaddr.IPv4.isValidCIDRFourPartDecimal(network) || ipaddr.IPv6.isValidCIDR(network);
  return known ? network : null;
}
