import type { Bind } from '@countersign/carriers/config';
import type { ConnectedPeer } from '../listener/admission.js';
import { isAllowedAddress } from '../listener/networks.js';

export type OutbindRefusal =
  | 'shut_out'
  | 'unknown_system'
  | 'address'
  | 'tls_required'
  | 'wrong_password'
  | 'disabled'
  | 'no_free_connection'
  | 'unavailable';

/** The terms of a bind for a connection that its carrier opens. */
export type OutbindTerms = Pick<Bind, 'enabled' | 'tls' | 'outbind'>;

export type OutbindVerdict<Terms> =
  | {
      readonly accepted: true;
      /** At least one; the first with a free connection is bound. */ readonly binds: readonly Terms[];
    }
  | { readonly accepted: false; readonly refusal: OutbindRefusal };

/**
 * The binds that an outbind may use. Passwords are compared only for a peer in the networks of the bind, so that others learn
 * nothing about them.
 *
 * @param named the binds whose outbind has this system_id; several may share one
 */
export function judgeOutbind<Terms extends OutbindTerms>(
  named: readonly Terms[],
  peer: Pick<ConnectedPeer, 'address' | 'overTls'>,
  passwordMatches: (bind: Terms) => boolean,
): OutbindVerdict<Terms> {
  if (named.length === 0) return refused('unknown_system');
  const near = named.filter(({ outbind }) => outbind !== null && isAllowedAddress(peer.address, outbind.allowedCidrs));
  if (near.length === 0) return refused('address');
  // The password of the bind is sent over this connection.
  const secure = near.filter(({ tls }) => peer.overTls || !tls.enabled);
  if (secure.length === 0) return refused('tls_required');
  // Each is compared, so that the time does not reveal which matched.
  const known = secure.map((bind) => ({ bind, matches: passwordMatches(bind) })).filter(({ matches }) => matches);
  if (known.length === 0) return refused('wrong_password');
  const binds = known.map(({ bind }) => bind).filter(({ enabled }) => enabled);
  return binds.length === 0 ? refused('disabled') : { accepted: true, binds };
}

const refused = (refusal: OutbindRefusal): { readonly accepted: false; readonly refusal: OutbindRefusal } => ({
  accepted: false,
  refusal,
});
