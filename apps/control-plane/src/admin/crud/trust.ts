import { isDeepStrictEqual } from 'node:util';
import type { Bind, SmppSystem } from '@countersign/carriers/config';
import { ADMIN_RIGHTS, hasRight } from '../../http/admin-policy.js';
import type { Refusal } from '../../http/errors.js';
import type { Engineer } from './admin-resource.js';

/** Fields of a bind and of a system that decide who the peer of a link is, and how its senders are interpreted. */
const PEER_FIELDS = ['allowedCidrs', 'tlsRequired', 'hosts', 'tls', 'systemId', 'senderFormat'] as const;

/** The compared fields of a bind or a system; a field that the kind does not have is absent in both rows. */
type LinkRow = Partial<
  Pick<SmppSystem, 'allowedCidrs' | 'tlsRequired'> &
    Pick<Bind, 'hosts' | 'tls' | 'systemId' | 'senderFormat' | 'trustedForMo'>
>;

/** Fields of a body whose presence matters. Any password counts as a change: a comparison would let a role guess it. */
interface SentFields {
  readonly hosts?: unknown;
  readonly password?: string;
}

/** `stored` is null for a create; `wanted` is the row as it would be stored. */
interface LinkChange {
  readonly sent: SentFields;
  readonly stored: LinkRow | null;
  readonly wanted: LinkRow;
}

/**
 * FORBIDDEN when a role without `changeTrust` changes `trustedForMo`, or, while the stored row is trusted, a field that
 * would let another peer send over the link or change the interpretation of its senders. Null otherwise: a value equal
 * to the stored one is no change, and every other field is free.
 */
export function trustRefusal({ role }: Engineer, change: LinkChange): Refusal | null {
  if (hasRight(role, 'changeTrust')) return null;
  const field = trustFieldChanged(change);
  if (field === null) return null;
  const condition = field === 'trustedForMo' ? '' : ' while trustedForMo is true';
  const message = `The role ${role} may not change ${field}${condition}: this needs the role ${ADMIN_RIGHTS.changeTrust.join(' or ')}.`;
  return { code: 'FORBIDDEN', field, message };
}

/** The first changed field of trust, by its name in the body, or null. */
function trustFieldChanged({ sent, stored, wanted }: LinkChange): string | null {
  const trusted = stored?.trustedForMo ?? false;
  if ((wanted.trustedForMo ?? false) !== trusted) return 'trustedForMo';
  if (!trusted) return null;
  const field = PEER_FIELDS.find((name) => !isDeepStrictEqual(wanted[name], stored?.[name]));
  if (field === 'hosts' && sent.hosts === undefined) return 'host';
  return field ?? (sent.password === undefined ? null : 'password');
}
