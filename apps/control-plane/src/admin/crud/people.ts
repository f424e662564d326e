import { isDeepStrictEqual } from 'node:util';
import type { AdminRole } from '@countersign/accounts/admin-keys';
import { checkPhone, maskPhone, maskPhonesIn } from '@countersign/phone';
import type { Uuid } from '@countersign/ids';
import { hasRight } from '../../http/admin-policy.js';
import { type AdminResource, type Engineer, plainResource } from './admin-resource.js';

/** Fields of audited states that contain an SMPP address or a phone, in any form. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['phone', 'source', 'destination']);
/** Fields of audited states that contain an email address. */
const EMAIL_FIELDS: ReadonlySet<string> = new Set(['email']);
/** Fields with content chosen by the account. */
const FREE_FIELDS: ReadonlySet<string> = new Set(['metadata']);

const HTTP_URL = /\bhttps?:\/\/[^\s"<>]+/gi;
const USER_INFO = /^(https?:\/\/)[^/?#]*@/i;
/** A legal character in URLs, so that a masked URL remains a URL. */
const HIDDEN = '***';

/** The view for a role: complete for roles that may see people's data, else masked. */
export function viewFor<Row, View>(
  role: AdminRole,
  view: (row: Row) => View,
  masked: (shown: View) => View,
): (row: Row) => View {
  return hasRight(role, 'readPersonalData') ? view : (row) => masked(view(row));
}

/** Whether a view has people's data: something that is masked for other roles. */
export const showsPeople =
  <View>(masked: (shown: View) => View) =>
  (shown: View): boolean =>
    !isDeepStrictEqual(shown, masked(shown));

/** A resource for reads by a role, with the view of `viewFor`. */
export function maskedFor<Row extends { readonly id: Uuid }, View extends object>(
  { role }: Engineer,
  resource: AdminResource<Row, View>,
  masked: (shown: View) => View,
): AdminResource<Row, View> {
  return { ...plainResource(resource), view: viewFor(role, resource.view, masked) };
}

/**
 * A text whose http URLs are reduced to scheme, host, path and query names: a user, a fragment or the value of a
 * parameter is often a token.
 */
export const maskUrlsIn = (text: string): string => text.replace(HTTP_URL, maskUrl);

/** A free text with phones masked, and URLs reduced by `maskUrlsIn`. */
export const maskText = (text: string): string => maskPhonesIn(maskUrlsIn(text));

const HEX_OCTETS = /^(?:[0-9a-f]{2})+$/i;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** A text with phones and URLs masked, also where they are written as the hexadecimal digits of their octets. */
export function maskOctets(shown: string): string {
  const text = HEX_OCTETS.test(shown) ? Buffer.from(shown, 'hex').toString('latin1') : '';
  const masked = PRINTABLE.test(text) ? maskText(text) : text;
  return masked === text ? maskText(shown) : Buffer.from(masked, 'latin1').toString('hex');
}

/** A TLV with phones masked in its value. A number stays one unless it could be a phone. */
export function maskTlv<Tlv extends { readonly value?: unknown }>(tlv: Tlv): Tlv {
  if (typeof tlv.value !== 'string' && typeof tlv.value !== 'number') return tlv;
  const shown = String(tlv.value);
  const masked = maskOctets(shown);
  return masked === shown ? tlv : { ...tlv, value: masked };
}

/** The beginning of numbers, masked if it is a whole phone number. */
export const maskPrefix = (prefix: string): string => (checkPhone(prefix).ok ? maskPhone(prefix) : prefix);

function maskUrl(url: string): string {
  const [, base = url, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(url) ?? [];
  const parameters = query?.slice(1).split('&').map(maskParameter).join('&');
  const masked = base.replace(USER_INFO, `$1${HIDDEN}@`);
  return masked + (parameters === undefined ? '' : `?${parameters}`) + (fragment === undefined ? '' : `#${HIDDEN}`);
}

/** A parameter without a name may itself be a token. */
function maskParameter(parameter: string): string {
  const nameEnd = parameter.indexOf('=');
  return nameEnd === -1 ? HIDDEN : `${parameter.slice(0, nameEnd)}=${HIDDEN}`;
}

/** `ann@example.com` becomes `a***@example.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  return `${email.slice(0, Math.min(1, at))}${HIDDEN}${email.slice(at)}`;
}

/** A JSON value of any shape with phones and URLs masked and metadata emptied. Keys are unchanged. */
export function maskPeopleIn(value: unknown): unknown {
  if (typeof value === 'string') return maskOctets(value);
  if (Array.isArray(value)) return value.map(maskPeopleIn);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskMember(name, member)]));
}

function maskMember(name: string, member: unknown): unknown {
  if (FREE_FIELDS.has(name)) return {};
  if (EMAIL_FIELDS.has(name) && typeof member === 'string') return maskEmail(member);
  if (name === 'tlvs' && Array.isArray(member))
    return member.map((tlv) => maskPeopleIn(isObject(tlv) ? maskTlv(tlv) : tlv));
  if (name === 'oidc' && isObject(member)) return { ...member, subject: HIDDEN };
  return ADDRESS_FIELDS.has(name) && typeof member === 'string' ? maskPhone(member) : maskPeopleIn(member);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
