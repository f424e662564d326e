import { isDeepStrictEqual } from 'node:util';
import type { AdminRole } from '@countersign/accounts/admin-keys';
import type { Bind, InboundNumber, SmppSystem } from '@countersign/carriers/config';
import { ADMIN_RIGHTS, hasRight } from '../../http/admin-policy.js';
import type { Refusal } from '../../http/errors.js';
import type { Engineer } from './admin-resource.js';

/**
 * The requirement of a change of a field, beside the permission of its route:
 *
 * - `none`: nothing;
 * - `trust`: the right `changeTrust`;
 * - `trust-while-trusted`: that right while messages are trusted, see `condition`;
 * - `trust-while-trusted-or-password`: the same, and otherwise that right or a `password` in the same request: the
 *   gateway would send the stored password to a peer of the engineer's choice.
 */
type Requirement = 'none' | 'trust' | 'trust-while-trusted' | 'trust-while-trusted-or-password';

interface TrustPolicy {
  /** When messages are trusted, as part of a sentence. */
  readonly condition: string;
  /** The first field that is refused is named, so the order is that of precedence. */
  readonly fields: Readonly<Record<string, Requirement>>;
}

/** The fields of both binds and systems, besides `trustedForMo`. */
const LINK_FIELDS = {
  systemId: 'trust-while-trusted',
  senderFormat: 'trust-while-trusted',
  // Parts of a long message are joined within a carrier: the link of the last part decides how its sender is read.
  carrier: 'trust-while-trusted',
  password: 'trust-while-trusted',
  // Texts are decoded with it: with another alphabet a token is not found, and a quoted code is not masked.
  defaultAlphabet: 'trust-while-trusted',
  submitPerSecond: 'none',
  window: 'none',
  enquireLinkSeconds: 'none',
  responseTimeoutSeconds: 'none',
  messageIdBase: 'none',
  temporaryStatuses: 'none',
  retryableMoStatus: 'none',
  // Only codes that are sent.
  submitOptions: 'none',
  enabled: 'none',
} as const satisfies TrustPolicy['fields'];

/**
 * Every writable field of the resources that decide which messages approve sessions, and which phone their senders are
 * read as. Other resources need no right but the permission of their routes: routes and destination rules concern only
 * codes that are sent, and accounts, brands, keys and prices are written by owners alone.
 */
export const TRUST_POLICY = {
  binds: {
    condition: 'trustedForMo is true',
    fields: {
      trustedForMo: 'trust',
      // The peer that sends over the link, and that receives the password.
      hosts: 'trust-while-trusted-or-password',
      host: 'trust-while-trusted-or-password',
      port: 'trust-while-trusted-or-password',
      tls: 'trust-while-trusted-or-password',
      outbind: 'trust-while-trusted-or-password',
      ...LINK_FIELDS,
      name: 'none',
      systemType: 'none',
      bindType: 'none',
      interfaceVersion: 'none',
      addressRange: 'none',
      connections: 'none',
    },
  },
  'smpp-systems': {
    condition: 'trustedForMo is true',
    fields: {
      trustedForMo: 'trust',
      allowedCidrs: 'trust-while-trusted',
      tlsRequired: 'trust-while-trusted',
      // The host whose connections need no other proof.
      outbind: 'trust-while-trusted',
      ...LINK_FIELDS,
      bindTypes: 'none',
      maxConnections: 'none',
      deliverPerSecond: 'none',
    },
  },
  // National senders of messages to a short code are read in its countries; the country of a long number is its own, but
  // its national digits may be those of a number of another country (`inbound-number.resource.ts`). A link does not say
  // which numbers it serves, so a short code counts for every trusted link.
  'inbound-numbers': {
    condition: 'the number is a short code, or a number of no numbering plan, and a bind or system has trustedForMo',
    fields: { number: 'trust-while-trusted', countries: 'trust-while-trusted', brandId: 'none' },
  },
} as const satisfies Readonly<Record<string, TrustPolicy>>;

/** The row's field of a field of the body, where their names differ. */
const STORED_AS: Readonly<Record<string, string>> = { host: 'hosts', port: 'hosts' };

type Row = Partial<SmppSystem> | Partial<Bind> | Partial<InboundNumber>;

interface TrustChange {
  /** The body: only fields in it can be changed. */
  readonly sent: object;
  /** Null for a create. */
  readonly stored: Row | null;
  /** The row as it would be stored; null for a delete, where `sent` is the row itself. */
  readonly wanted: Row | null;
  /** Whether the condition of the resource holds. Default: the stored row's `trustedForMo`. */
  readonly trusted?: boolean;
  /** Instead of the condition of the resource. */
  readonly condition?: string;
}

/**
 * FORBIDDEN when a role without `changeTrust` changes a field for which TRUST_POLICY demands more; null otherwise. A
 * value equal to the stored one is no change, except a password, because a comparison would let a role guess it, and a
 * sender format that starts learning again.
 */
export function trustRefusal(
  { role }: Engineer,
  resource: keyof typeof TRUST_POLICY,
  change: TrustChange,
): Refusal | null {
  if (hasRight(role, 'changeTrust')) return null;
  const { fields, condition: usual }: TrustPolicy = TRUST_POLICY[resource];
  const { condition = usual } = change;
  const trusted = change.trusted ?? valueOf(change.stored, 'trustedForMo') === true;
  for (const [field, requirement] of Object.entries(fields)) {
    if (requirement === 'none' || !isChanged(field, change)) continue;
    if (requirement === 'trust') return forbidden(role, field, '');
    if (trusted) return forbidden(role, change.wanted === null ? null : field, ` while ${condition}`);
    const needsPassword = requirement === 'trust-while-trusted-or-password';
    if (needsPassword && valueOf(change.sent, 'password') === undefined) {
      return forbidden(role, field, ' without the password in the same request');
    }
  }
  return null;
}

function isChanged(field: string, { sent, stored, wanted }: TrustChange): boolean {
  if (valueOf(sent, field) === undefined) return false;
  // A password inside of it is not compared either.
  if (field === 'outbind' && hasPassword(valueOf(sent, field))) return true;
  if (field === 'password' || (field === 'senderFormat' && isMixed(stored))) return true;
  const name = STORED_AS[field] ?? field;
  const none = field === 'trustedForMo' ? false : field === 'outbind' ? null : undefined;
  return !isDeepStrictEqual(valueOf(wanted, name) ?? none, valueOf(stored, name) ?? none);
}

/** Whether setting the format of this link, even to the same one, discards the evidence of its senders. */
const isMixed = (link: Row | null): boolean =>
  link !== null && 'senderLearning' in link && link.senderLearning?.learned === 'mixed';

const hasPassword = (sent: unknown): boolean => sent instanceof Map && sent.has('password');

const valueOf = (row: object | null, field: string): unknown => (row === null ? undefined : Reflect.get(row, field));

/** @param field null for a delete */
function forbidden(role: AdminRole, field: string | null, condition: string): Refusal {
  const what = field === null ? 'delete it' : `change ${field}`;
  const message = `The role ${role} may not ${what}${condition}: this needs the role ${ADMIN_RIGHTS.changeTrust.join(' or ')}.`;
  return { code: 'FORBIDDEN', message, ...(field === null ? {} : { field }) };
}
