import { trustProofOf, type TrustTerms } from '@countersign/carriers/credentials';
import { isAllowedAddress } from './networks.js';

export type BindType = 'transmitter' | 'receiver' | 'transceiver';

/** The peer of a connection, as its socket gives it. */
export interface ConnectedPeer {
  /** Text of its IP address. */
  readonly address: string;
  readonly overTls: boolean;
  /** Names in its client certificate; null where none is asked for. */
  readonly certificateNames: readonly string[] | null;
}

/** A bind request, with the peer that sent it. */
export interface BindAttempt extends ConnectedPeer {
  readonly bindType: BindType;
  /** Connections of this system_id that are bound now. */
  readonly connections: number;
}

/** What a system asks of its connections, whatever they bind as. */
export interface ConnectionTerms extends TrustTerms {
  readonly systemId: string;
}

/** What a system may do. */
export interface SystemTerms extends ConnectionTerms {
  readonly enabled: boolean;
  readonly bindTypes: readonly string[];
  readonly maxConnections: number;
}

export type ConnectionRefusal = 'address' | 'tls_required' | 'certificate';

export type Refusal =
  | ConnectionRefusal
  | 'shut_out'
  | 'guarded'
  | 'unknown_system'
  | 'wrong_password'
  | 'disabled'
  | 'bind_type'
  | 'too_many_connections';

/**
 * May this peer have a connection of the system? Null: yes. Asked before the password is compared, so that a peer which
 * the system cannot be learns nothing about the password. A certificate has to name a system whose trust depends on it;
 * where the gateway asks for none, the system binds and is not trusted (`isTrustedConnection`).
 */
export function connectionRefusal(terms: ConnectionTerms, peer: ConnectedPeer): ConnectionRefusal | null {
  if (!isAllowedAddress(peer.address, terms.allowedCidrs)) return 'address';
  if (terms.tlsRequired && !peer.overTls) return 'tls_required';
  const byCertificate = terms.trustedForMo && trustProofOf(terms) === 'certificate';
  if (byCertificate && peer.certificateNames?.includes(terms.systemId) === false) return 'certificate';
  return null;
}

/** Do both ask the same of a connection? */
export function sameConnectionTerms(one: ConnectionTerms, other: ConnectionTerms): boolean {
  return (
    one.systemId === other.systemId &&
    one.trustedForMo === other.trustedForMo &&
    one.tlsRequired === other.tlsRequired &&
    one.allowedCidrs.join() === other.allowedCidrs.join()
  );
}

/**
 * May this applicant bind, whose connection is none to be refused? Null: yes. The other terms of a system are looked at
 * only after its password was right; `terms` is null for a system that does not exist.
 */
export function refusalOf(terms: SystemTerms | null, passwordMatches: boolean, attempt: BindAttempt): Refusal | null {
  if (terms === null) return 'unknown_system';
  if (!passwordMatches) return 'wrong_password';
  if (!terms.enabled) return 'disabled';
  if (!terms.bindTypes.includes(attempt.bindType)) return 'bind_type';
  if (attempt.connections >= terms.maxConnections) return 'too_many_connections';
  return null;
}
