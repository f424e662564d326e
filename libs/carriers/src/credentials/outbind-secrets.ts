import type { ServerKeys } from '@countersign/keys';
import type { Bind } from '../config/bind.entity.js';
import { bindClientKey } from '../config/smpp-password.js';
import type { SmppSystem } from '../config/smpp-system.entity.js';

/** The password of the outbind of a bind or a system; null without one. Throws SealError when the master key is a different one. */
export function outbindPassword(
  keys: ServerKeys,
  { id, outbindPasswordSealed: sealed }: Pick<Bind, 'id' | 'outbindPasswordSealed'>,
): string | null {
  return sealed === null ? null : keys.open('outbind-password', sealed, id).toString('utf8');
}

/** The key of the client certificate of a system's `outbind`, PEM; null for none. Throws as `outbindPassword`. */
export function outbindClientKey(
  keys: ServerKeys,
  { id, outbindClientKeySealed: clientKeySealed }: Pick<SmppSystem, 'id' | 'outbindClientKeySealed'>,
): string | null {
  return bindClientKey(keys, { id, clientKeySealed });
}
