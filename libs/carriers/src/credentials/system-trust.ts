import ipaddr from 'ipaddr.js';
import type { SmppSystem } from '../config/smpp-system.entity.js';

/** Shortest prefix, in bits, of a network whose peers may be trusted for MO (contract, Admin). */
export const MIN_TRUSTED_PREFIX_BITS = { ipv4: 16, ipv6: 32 } as const;

/** ::ffff:0:0/96 contains every IPv4 address (RFC 4291, 2.5.5.2). */
const MAPPED_PREFIX_BITS = 96;
const MAPPED_NETWORK = ipaddr.IPv6.parse('::ffff:0:0');

/** The proof that a connection belongs to the system: its address, or the name in its client certificate. */
export type TrustProof = 'address' | 'certificate';

export type TrustTerms = Pick<SmppSystem, 'trustedForMo' | 'allowedCidrs' | 'tlsRequired'>;

/**
 * Whether a text is an address, or a network with at least the trusted prefix. IPv4-mapped IPv6 counts as IPv4.
 * Invalid text is not.
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

/** The proof that a system's row requires of every connection; null when it requires none that suffices for trust. */
export function trustProofOf({ allowedCidrs, tlsRequired }: Omit<TrustTerms, 'trustedForMo'>): TrustProof | null {
  if (allowedCidrs.length > 0 && allowedCidrs.every(isNarrowNetwork)) return 'address';
  return tlsRequired ? 'certificate' : null;
}

/** Whether a row is trusted without requiring a sufficient proof. Its MOs are then not trusted. */
export const lacksTrustProof = (terms: TrustTerms): boolean => terms.trustedForMo && trustProofOf(terms) === null;

/**
 * Whether the MOs of a connection are evidence. The connection comes from an allowed address; `names` are the names
 * in its client certificate, null if the gateway requests none.
 */
export function isTrustedConnection(
  system: TrustTerms & Pick<SmppSystem, 'systemId'>,
  names: readonly string[] | null,
): boolean {
  if (!system.trustedForMo) return false;
  const proof = trustProofOf(system);
  return proof === 'address' || (proof === 'certificate' && names?.includes(system.systemId) === true);
}
