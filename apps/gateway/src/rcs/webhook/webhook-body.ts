import { createHmac, timingSafeEqual } from 'node:crypto';
import { hasMoreValues } from '@countersign/http';
import { MAX_BODY_OCTETS } from './webhook-head.js';
import { objectIn, parseMembers, textIn, type Members } from '../json/json-members.js';

const SIGNATURE_OCTETS = 64;
const MAX_SIGNATURE_CHARACTERS = 88;
const MAX_TOKEN_CHARACTERS = 256;
const MAX_SECRET_CHARACTERS = 1_024;
/** Members and values of a body, each counted once or twice: those of the platform have about ten and some attributes. */
const MAX_VALUES = 256;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The body of a POST to the webhook, before its sender is verified. */
export type WebhookBody =
  /** Verification of the webhook address: the answer is the secret, if the client token is ours. */
  | { readonly kind: 'handshake'; readonly clientToken: string; readonly secret: string }
  /** An event; `data` are the signed octets. */
  | { readonly kind: 'push'; readonly data: Buffer }
  | { readonly kind: 'unreadable'; readonly because: string };

/** Parses a body. Only its members decide the kind, since headers differ between accounts of the platform. */
export function parseWebhookBody(octets: Buffer): WebhookBody {
  // Its sender is not verified yet.
  if (hasMoreValues(octets, MAX_VALUES)) return { kind: 'unreadable', because: 'The body has too many members.' };
  const members = parseMembers(octets);
  if (members === null) return { kind: 'unreadable', because: 'The body must be a JSON object.' };
  return Object.hasOwn(members, 'message') ? pushOf(members) : handshakeOf(members);
}

/** Attributes and ids beside `data` are not signed and therefore ignored. */
function pushOf(members: Members): WebhookBody {
  const message = objectIn(members, 'message');
  const data = message === null ? null : textIn(message, 'data', MAX_BODY_OCTETS);
  const octets = data === null ? null : decodeBase64(data);
  if (octets === null || octets.length === 0) return { kind: 'unreadable', because: 'message.data must be base64.' };
  return { kind: 'push', data: octets };
}

function handshakeOf(members: Members): WebhookBody {
  const clientToken = textIn(members, 'clientToken', MAX_TOKEN_CHARACTERS);
  const secret = textIn(members, 'secret', MAX_SECRET_CHARACTERS);
  if (clientToken === null || secret === null) {
    return { kind: 'unreadable', because: 'The body must have message.data, or clientToken and secret.' };
  }
  return { kind: 'handshake', clientToken, secret };
}

/** Compares a token with our client token in constant time. */
export function isClientToken(clientToken: string, offered: string): boolean {
  const digest = (text: string): Buffer => createHmac('sha256', 'countersign').update(text).digest();
  return timingSafeEqual(digest(clientToken), digest(offered));
}

/**
 * Whether the header is base64 of the HMAC-SHA512 of the data under our client token. False for a missing header, and for
 * a header that is not strict base64 of 64 octets.
 */
export function isSigned(clientToken: string, data: Buffer, header: string | undefined): boolean {
  if (header === undefined || header.length > MAX_SIGNATURE_CHARACTERS) return false;
  const signature = decodeBase64(header);
  if (signature?.length !== SIGNATURE_OCTETS) return false;
  return timingSafeEqual(signature, createHmac('sha512', clientToken).update(data).digest());
}

/** Decodes strict base64 with padding; null for any other text. */
function decodeBase64(text: string): Buffer | null {
  if (!BASE64.test(text)) return null;
  const octets = Buffer.from(text, 'base64');
  // Excess bits in the last character would be another encoding of the same octets.
  return octets.toString('base64') === text ? octets : null;
}
