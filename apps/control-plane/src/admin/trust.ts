import { hasRight } from '../http/admin-policy.js';
import type { Refusal } from '../http/errors.js';
import type { Engineer } from './admin-resource.js';

/** Null unless a body would change `trustedForMo` and the role may not. `current` is false for what is created. */
export function trustRefusal({ role }: Engineer, sent: boolean | undefined, current: boolean): Refusal | null {
  if (sent === undefined || sent === current || hasRight(role, 'changeTrust')) return null;
  return { code: 'FORBIDDEN', field: 'trustedForMo', message: `The role ${role} may not change trustedForMo.` };
}
