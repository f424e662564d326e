import { trustProofOf } from '@countersign/carriers/credentials';
import type { Bind } from '@countersign/carriers/config';
import type { Refusal } from '../../http/errors.js';
import type { JsonObject } from '../../http/json-body.js';
import { isListOf, memberFault } from '../crud/fields.js';
import { isPassword, isSystemId, isUncommonPassword } from '../crud/smpp-fields.js';
import { MAX_NETWORKS, networkOf } from '../crud/networks.js';

type BindOutbind = NonNullable<Bind['outbind']>;

/** As of a system that is trusted for MO, whether the bind is or not. */
const areNarrow = (networks: readonly string[]): boolean =>
  trustProofOf({ allowedCidrs: networks, tlsRequired: false }) === 'address';

const networksOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.flatMap((text) => (typeof text === 'string' ? (networkOf(text) ?? []) : [])) : [];

const isNetwork = (value: unknown): boolean => typeof value === 'string' && networkOf(value) !== null;
const isListOfNetworks = isListOf(isNetwork, { least: 1, most: MAX_NETWORKS });

/** The faulty member of `outbind`. */
export const outbindFault = memberFault({
  systemId: isSystemId,
  password: (value) => value === undefined || isPassword(value),
  allowedCidrs: (value) => isListOfNetworks(value) && areNarrow(networksOf(value)),
});

/** The stored form of an `outbind` without a fault; its password is stored apart, sealed. */
export function outbindOf(sent: ReadonlyMap<string, unknown>): BindOutbind {
  const systemId = sent.get('systemId');
  return { systemId: typeof systemId === 'string' ? systemId : '', allowedCidrs: networksOf(sent.get('allowedCidrs')) };
}

/** The password in an `outbind` without a fault; null for none. */
export function outbindPasswordOf(sent: ReadonlyMap<string, unknown>): string | null {
  const password = sent.get('password');
  return typeof password === 'string' ? password : null;
}

/**
 * Refuses a new password of an `outbind` that may not be the password of a system either, while messages of the bind are
 * trusted; null otherwise. A stored password is kept.
 */
export function outbindPasswordRefusal(sent: JsonObject | null | undefined, trustedForMo: boolean): Refusal | null {
  if (!trustedForMo || sent === undefined || sent === null) return null;
  const password = outbindPasswordOf(sent);
  const repeatsSystemId = password?.toLowerCase() === outbindOf(sent).systemId.toLowerCase();
  if (password === null || (isUncommonPassword(password) && !repeatsSystemId)) return null;
  const message =
    'outbind.password must be 6 to 8 characters of ASCII, not a common password and not the systemId of the outbind, while ' +
    'trustedForMo is true.';
  return { code: 'VALIDATION_ERROR', field: 'outbind.password', message };
}
