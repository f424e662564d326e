import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Bind } from './bind.entity.js';
import type { SmppSystem } from './smpp-system.entity.js';

/**
 * The stored form of the password of a system that connects in. Includes the row id: equal passwords have different
 * digests.
 */
export function systemPasswordDigest(keys: ServerKeys, id: Uuid, password: string): Buffer {
  return keys.digest('smpp-password', textOf(id, password));
}

const textOf = (id: Uuid, password: string): string => `${id}:${password}`;

/**
 * Whether the password matches, under any version of the master key, in constant time. For an unknown system it takes
 * the same time and returns false.
 */
export function systemPasswordMatches(
  keys: ServerKeys,
  system: Pick<SmppSystem, 'id' | 'passwordDigest'> | null,
  password: string,
): boolean {
  const stored = system?.passwordDigest ?? NO_DIGEST;
  const given = keys.digests('smpp-password', textOf(system?.id ?? NO_SYSTEM, password));
  return given.map((digest) => digestsEqual(digest, stored)).includes(true) && system !== null;
}

const NO_SYSTEM: Uuid = '00000000-0000-0000-0000-000000000000';
const NO_DIGEST = Buffer.alloc(32);

/** The password of one of our binds. Throws SealError when the master key is a different one. */
export function bindPassword(keys: ServerKeys, bind: Pick<Bind, 'id' | 'passwordSealed'>): string {
  return keys.open('bind-password', bind.passwordSealed, bind.id).toString('utf8');
}

/** The key of the client certificate of one of our binds, PEM; null for none. Throws as `bindPassword`. */
export function bindClientKey(keys: ServerKeys, bind: Pick<Bind, 'id' | 'clientKeySealed'>): string | null {
  if (bind.clientKeySealed === null) return null;
  return keys.open('bind-client-key', bind.clientKeySealed, bind.id).toString('utf8');
}

/** The stored form of the key of a client certificate. */
export function sealBindClientKey(keys: ServerKeys, id: Uuid, pem: string): Buffer {
  return keys.seal('bind-client-key', pem, id);
}

/** The stored form of a bind's password. */
export function sealBindPassword(keys: ServerKeys, id: Uuid, password: string): Buffer {
  return keys.seal('bind-password', password, id);
}

/** The stored form of the password of an outbind. `id`: the row of the bind or of the system. */
export function sealOutbindPassword(keys: ServerKeys, id: Uuid, password: string): Buffer {
  return keys.seal('outbind-password', password, id);
}
