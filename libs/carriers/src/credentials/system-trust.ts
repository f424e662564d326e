import ipaddr from 'ipaddr.js';
import type { SmppSystem } from '../config/smpp-system.entity.js';

/** Shortest prefix, in bits, of a network whose peers may be trusted for MO (contract, Admin). */
export const MIN_TRUSTED_PREFIX_BITS = { ipv4: 16, ipv6: 32 } as const;

/** Networks of IPv6 with this prefix contain every IPv4 address: IPv4-mapped (RFC 4291, 2.5.5.2), and NAT64 (RFC 6052, 2.1). */
const EMBEDDING_PREFIX_BITS = 96;
const EMBEDDING_NETWORKS = [ipaddr.IPv6.parse('::ffff:0:0'), ipaddr.IPv6.parse('64:ff9b::')];

/** The proof that a connection belongs to the system: its address, or the name in its client certificate. */
export type TrustProof = 'address' | 'certificate';

export type TrustTerms = Pick<SmppSystem, 'trustedForMo' | 'allowedCidrs' | 'tlsRequired'>;

/**
 * Whether a text is an address, or a network with at least the trusted prefix. IPv6 that embeds IPv4 counts as IPv4.
 * Invalid text is not.
 */
export function isNarrowNetwork(text: string): boolean {
  if (ipaddr.isValid(text)) return true;
  if (!ipaddr.isValidCIDR(text)) return false;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv4) return bits >= MIN_TRUSTED_PREFIX_BITS.ipv4;
  // The shorter of the prefixes: one network contains the other.
  const embedding = EMBEDDING_NETWORKS.some((each) => each.match(address, Math.min(bits, EMBEDDING_PREFIX_BITS)));
  return embedding
    ? bits - EMBEDDING_PREFIX_BITS >= MIN_TRUSTED_PREFIX_BITS.ipv4
    : bits >= MIN_TRUSTED_PREFIX_BITS.ipv6;
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
