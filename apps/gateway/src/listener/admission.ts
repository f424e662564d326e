import { isAllowedAddress } from './networks.js';

export type BindType = 'transmitter' | 'receiver' | 'transceiver';

/** What is asked for by a bind request, with what the socket tells. */
export interface Applicant {
  readonly bindType: BindType;
  /** Text of the peer's IP address, as the socket gives it. */
  readonly address: string;
  readonly overTls: boolean;
  /** Connections of this system_id that are bound now. */
  readonly connections: number;
}

/** What a system may do. */
export interface SystemTerms {
  readonly enabled: boolean;
  readonly bindTypes: readonly string[];
  readonly allowedCidrs: readonly string[];
  readonly maxConnections: number;
  readonly tlsRequired: boolean;
}

export type Refusal =
  | 'shut_out'
  | 'unknown_system'
  | 'wrong_password'
  | 'disabled'
  | 'address'
  | 'tls_required'
  | 'bind_type'
  | 'too_many_connections';

/**
 * May this applicant bind? Null: yes. Nothing about a system is told before its password was right, so the checks of
 * its terms come after; `terms` is null for a system that does not exist.
 */
export function refusalOf(terms: SystemTerms | null, passwordMatches: boolean, applicant: Applicant): Refusal | null {
  if (terms === null) return 'unknown_system';
  if (!passwordMatches) return 'wrong_password';
  if (!terms.enabled) return 'disabled';
  if (!isAllowedAddress(applicant.address, terms.allowedCidrs)) return 'address';
  if (terms.tlsRequired && !applicant.overTls) return 'tls_required';
  if (!terms.bindTypes.includes(applicant.bindType)) return 'bind_type';
  if (applicant.connections >= terms.maxConnections) return 'too_many_connections';
  return null;
}
