import { CountersignError } from './errors.js';
import { parseJson } from './fields.js';
import { readEvent, type WebhookEvent } from './webhook-event.js';

/** Why a request was rejected as a webhook of the service. */
export type WebhookRefusal =
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing, repeated or invalid. */
  | 'bad_headers'
  /** Signed too long ago, or in the future: a replay, or a wrong clock. */
  | 'bad_timestamp'
  /** No signature matches any of the secrets. */
  | 'bad_signature'
  /** Genuine, but not an event. */
  | 'bad_body';

/** The request is not genuine, or not readable: answer it with 400 and do nothing. */
export class WebhookVerificationError extends CountersignError {
  override readonly name = 'WebhookVerificationError';

  constructor(readonly reason: WebhookRefusal) {
    super(`The webhook was refused: ${reason}.`);
  }
}

/** `Headers`, or an object as in Node's servers. Names in any case. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /** Maximum age of a webhook, or time in the future. Default 300 seconds. */
  readonly toleranceSeconds?: number;
  /** For tests. */
  readonly now?: Date;
}

const TOLERANCE_SECONDS = 300;
/** There are two during a rotation; more are not compared. */
const MAX_SIGNATURES = 8;

/**
 * Verifies a webhook and returns its event (Standard Webhooks 1.0, symmetric). Delivery is at least once: store the
 * ids that you have processed.
 *
 * @param body exactly as received: JSON that was parsed and written again has another signature
 * @param secrets `whsec_…`; both during a rotation
 * @throws WebhookVerificationError for a request that is not genuine
 * @throws TypeError for an invalid secret, which is an error of the receiver
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(octetsOfSecret);
  const signed = readHeaders(headers);
  if (Math.abs(Math.floor(now.getTime() / 1_000) - signed.seconds) > toleranceSeconds) refuse('bad_timestamp');
  const octets = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const message = concat(new TextEncoder().encode(`${signed.id}.${signed.timestamp}.`), octets);
  if (!(await matchesAnyKey(keys, signed.signatures, message))) refuse('bad_signature');
  const text = decodeUtf8(octets);
  return readEvent(signed.id, text === null ? undefined : parseJson(text)) ?? refuse('bad_body');
}

interface SignedHeaders {
  readonly id: string;
  /** The text that was signed. */
  readonly timestamp: string;
  readonly seconds: number;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

function readHeaders(headers: WebhookHeaders): SignedHeaders {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const list = headerOf(headers, 'webhook-signature');
  if (id === null || timestamp === null || list === null || !/^\d{1,12}$/.test(timestamp)) return refuse('bad_headers');
  const signatures = list.split(' ').flatMap((entry) => {
    const octets = entry.startsWith('v1,') ? decodeBase64(entry.slice('v1,'.length)) : null;
    return octets === null ? [] : [octets];
  });
  return { id, timestamp, seconds: Number(timestamp), signatures: signatures.slice(0, MAX_SIGNATURES) };
}

/** Null when it is missing, empty or repeated. */
function headerOf(headers: WebhookHeaders, name: string): string | null {
  const value = isHeaders(headers) ? headers.get(name) : plainHeader(headers, name);
  return value === null || value === '' ? null : value;
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function';
}

function plainHeader(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string | null {
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value ?? []] : []));
  const [only, ...more] = values.flat();
  return only === undefined || more.length > 0 ? null : only;
}

/** WebCrypto compares in constant time. */
async function matchesAnyKey(
  keys: readonly Uint8Array<ArrayBuffer>[],
  signatures: readonly Uint8Array<ArrayBuffer>[],
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  for (const octets of keys) {
    const key = await crypto.subtle.importKey('raw', octets, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of signatures) {
      if (await crypto.subtle.verify('HMAC', key, signature, message)) return true;
    }
  }
  return false;
}

const SECRET_PREFIX = 'whsec_';

function octetsOfSecret(secret: string): Uint8Array<ArrayBuffer> {
  const octets = secret.startsWith(SECRET_PREFIX) ? decodeBase64(secret.slice(SECRET_PREFIX.length)) : null;
  if (octets === null || octets.length === 0) throw new TypeError('A webhook secret is whsec_ and base64.');
  return octets;
}

/** The standard alphabet, with or without padding; null for any other text. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function decodeUtf8(octets: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
  } catch {
    return null;
  }
}

function concat(left: Uint8Array, right: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}

function refuse(reason: WebhookRefusal): never {
  throw new WebhookVerificationError(reason);
}
