import type { AdminRole } from '@countersign/accounts/admin-keys';
import { maskPhone, maskPhonesIn } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import { hasRight } from '../../http/admin-policy.js';
import type { AdminResource, Engineer } from './admin-resource.js';

/** Fields of audited states that hold an address of SMPP or a phone, whatever its form. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['phone', 'source', 'destination']);
/** Fields with content of the account's own choice. */
const FREE_FIELDS: ReadonlySet<string> = new Set(['metadata']);

/** The view for a role: in full for roles that may see people's data, else masked. */
export function viewFor<Row, View>(
  role: AdminRole,
  view: (row: Row) => View,
  masked: (shown: View) => View,
): (row: Row) => View {
  return hasRight(role, 'readPersonalData') ? view : (row) => masked(view(row));
}

/** A resource for reads by a role, with the view of `viewFor`. */
export function maskedFor<Row extends { readonly id: Uuid }, View extends object>(
  { role }: Engineer,
  { name, noun, idPrefix, table, view, refusals }: AdminResource<Row, View>,
  masked: (shown: View) => View,
): AdminResource<Row, View> {
  return { name, noun, idPrefix, table, refusals, view: viewFor(role, view, masked) };
}

/** A JSON value of any shape with phones masked and metadata emptied. Keys stay as they are. */
export function maskPeopleIn(value: unknown): unknown {
  if (typeof value === 'string') return maskPhonesIn(value);
  if (Array.isArray(value)) return value.map(maskPeopleIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskMember(name, member)]));
}

function maskMember(name: string, member: unknown): unknown {
  if (FREE_FIELDS.has(name)) return {};
  return ADDRESS_FIELDS.has(name) && typeof member === 'string' ? maskPhone(member) : maskPeopleIn(member);
}
