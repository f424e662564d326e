import { digestsEqual, type ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { Bind, SmppSystem } from './carrier.js';

/** What is stored of the password of a system that connects in. Bound to the row: equal passwords look different. */
export function systemPasswordDigest(keys: ServerKeys, id: Uuid, password: string): Buffer {
  return keys.digest('smpp-password', textOf(id, password));
}

const textOf = (id: Uuid, password: string): string => `${id}:${password}`;

/**
 * Whether that is the system's password, under any version of the master key, in constant time. For an unknown system it
 * takes as long and is false.
 */
export function systemPasswordMatches(keys: ServerKeys, system: SmppSystem | null, password: string): boolean {
  const stored = system?.passwordDigest ?? NO_DIGEST;
  const given = keys.digests('smpp-password', textOf(system?.id ?? NO_SYSTEM, password));
  return given.map((digest) => digestsEqual(digest, stored)).includes(true) && system !== null;
}

const NO_SYSTEM: Uuid = '00000000-0000-0000-0000-000000000000';
const NO_DIGEST = Buffer.alloc(32);

/** The password with which we bind at a carrier. Throws SealError when the master key is another one. */
export function bindPassword(keys: ServerKeys, bind: Pick<Bind, 'id' | 'passwordSealed'>): string {
  return keys.open('bind-password', bind.passwordSealed, bind.id).toString('utf8');
}

/** How a bind's password is stored. */
export function sealBindPassword(keys: ServerKeys, id: Uuid, password: string): Buffer {
  return keys.seal('bind-password', password, id);
}
