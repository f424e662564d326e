import ipaddr from 'ipaddr.js';
import type { SmppSystem } from '../config/carrier.js';

/** Shortest prefix, in bits, of a network whose peers may be trusted for MO (contract, Admin). */
export const MIN_TRUSTED_PREFIX_BITS = { ipv4: 16, ipv6: 32 } as const;

/** ::ffff:0:0/96 holds every IPv4 address (RFC 4291, 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;
const MAPPED_NETWORK = ipaddr.IPv6.parse('::ffff:0:0');

/** What proves that a connection is the system's own: its address, or the name in its client certificate. */
export type TrustProof = 'address' | 'certificate';

export type TrustTerms = Pick<SmppSystem, 'trustedForMo' | 'allowedCidrs' | 'tlsRequired'>;

/**
 * Is that a network, or an address alone, of at least the trusted prefix? IPv4-mapped IPv6 counts as the IPv4 that it
 * stands for. A text that cannot be read is not.
 */
export function isNarrowNetwork(text: string): boolean {
  if (ipaddr.isValid(text)) return true;
  if (!ipaddr.isValidCIDR(text)) return false;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv4) return bits >= MIN_TRUSTED_PREFIX_BITS.ipv4;
  if (address.isIPv4MappedAddress() && bits > MAPPED_PREFIX_BITS)
    return bits - MAPPED_PREFIX_BITS >= MIN_TRUSTED_PREFIX_BITS.ipv4;
  return bits >= MIN_TRUSTED_PREFIX_BITS.ipv6 && !MAPPED_NETWORK.match(address, bits);
}

/** The proof that a system's row asks of every connection; null when it asks for none that suffices for trust. */
export function trustProofOf({ allowedCidrs, tlsRequired }: Omit<TrustTerms, 'trustedForMo'>): TrustProof | null {
  if (allowedCidrs.length > 0 && allowedCidrs.every(isNarrowNetwork)) return 'address';
  return tlsRequired ? 'certificate' : null;
}

/** Is it to be trusted by its row, which asks for no proof that suffices? Its MOs are not trusted then. */
export const lacksTrustProof = (terms: TrustTerms): boolean => terms.trustedForMo && trustProofOf(terms) === null;

/**
 * Are MOs of this connection evidence? The connection is from an address that the system may come from; `names` are
 * those in its client certificate, null where the gateway asks for none.
 */
export function isTrustedConnection(
  system: TrustTerms & Pick<SmppSystem, 'systemId'>,
  names: readonly string[] | null,
): boolean {
  if (!system.trustedForMo) return false;
  const proof = trustProofOf(system);
  return proof === 'address' || (proof === 'certificate' && names?.includes(system.systemId) === true);
}
