import { isDeepStrictEqual } from 'node:util';
import type { SmppSystem } from '@countersign/carriers/config';
import { isTrustedConnection, trustProofOf, type TrustTerms } from '@countersign/carriers/credentials';
import type { Uuid } from '@countersign/ids';
import { isAllowedAddress } from './networks.js';

export type BindType = 'transmitter' | 'receiver' | 'transceiver';

/** The peer of a connection, from its socket. */
export interface ConnectedPeer {
  /** Text of its IP address. */
  readonly address: string;
  readonly overTls: boolean;
  /** Names in its client certificate; null when the gateway requests none. */
  readonly certificateNames: readonly string[] | null;
  /** The system to which this gateway has connected; absent when the peer connected. */
  readonly called?: CalledSystem;
}

/** A system to which this gateway has connected, to send outbind, with the outbind of its row. */
export interface CalledSystem {
  readonly id: Uuid;
  readonly outbind: NonNullable<SmppSystem['outbind']>;
}

/** A bind request, with the peer that sent it. */
export interface BindAttempt extends ConnectedPeer {
  readonly bindType: BindType;
  /** Bound connections of this system_id, over all gateways. */
  readonly connections: number;
}

/** The terms of a system for any of its connections. */
export interface ConnectionTerms extends TrustTerms {
  readonly id?: Uuid;
  readonly systemId: string;
  readonly outbind?: SmppSystem['outbind'];
}

/** The terms of a system. */
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
 * The reason why this peer may not connect as the system; null if it may. Checked before the password is compared, so that
 * other peers learn nothing about the password. If the trust of the system depends on a certificate, the certificate must
 * name the system; if the gateway requests no certificate, the system binds and is not trusted (`isTrustedConnection`). Over a
 * connection to the host of its outbind only that system binds; the host stands for its address and certificate.
 */
export function connectionRefusal(terms: ConnectionTerms, peer: ConnectedPeer): ConnectionRefusal | null {
  const { called } = peer;
  const isOfSystem =
    called === undefined ? isAllowedAddress(peer.address, terms.allowedCidrs) : isCalled(terms, called);
  if (!isOfSystem) return 'address';
  if (terms.tlsRequired && !peer.overTls) return 'tls_required';
  if (called !== undefined) return null;
  const byCertificate = terms.trustedForMo && trustProofOf(terms) === 'certificate';
  if (byCertificate && peer.certificateNames?.includes(terms.systemId) === false) return 'certificate';
  return null;
}

/** A system whose outbind has changed since is not the one that was called. */
const isCalled = ({ id, outbind }: ConnectionTerms, called: CalledSystem): boolean =>
  id === called.id && isDeepStrictEqual(outbind, called.outbind);

/** Whether the MOs of a connection are evidence: it proves the system, or its host is configured, as that of a bind is. */
export function isTrustedPeer(terms: ConnectionTerms, { called, certificateNames }: ConnectedPeer): boolean {
  if (called !== undefined) return terms.trustedForMo && trustProofOf(terms) !== null;
  return isTrustedConnection(terms, certificateNames);
}

/** Whether both have the same terms for connections. */
export function sameConnectionTerms(one: ConnectionTerms, other: ConnectionTerms): boolean {
  return (
    one.systemId === other.systemId &&
    one.trustedForMo === other.trustedForMo &&
    one.tlsRequired === other.tlsRequired &&
    one.allowedCidrs.join() === other.allowedCidrs.join() &&
    isDeepStrictEqual(one.outbind, other.outbind)
  );
}

/**
 * The refusal of a bind whose connection is allowed (`connectionRefusal`); null if it may bind. The other terms are checked
 * only after the password matched. `terms` is null for an unknown system.
 */
export function refusalOf(terms: SystemTerms | null, passwordMatches: boolean, attempt: BindAttempt): Refusal | null {
  if (terms === null) return 'unknown_system';
  if (!passwordMatches) return 'wrong_password';
  if (!terms.enabled) return 'disabled';
  if (!terms.bindTypes.includes(attempt.bindType)) return 'bind_type';
  if (attempt.connections >= terms.maxConnections) return 'too_many_connections';
  return null;
}
