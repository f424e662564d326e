/** Events have a few hundred octets, texts of subscribers a few thousand; the platform sends nothing larger. */
export const MAX_BODY_OCTETS = 64 * 1024;
/**
 * A configuration handshake has two short texts: 256 and 1,024 characters of at most 6 octets each in JSON, plus
 * their member names.
 */
export const MAX_HANDSHAKE_OCTETS = 8 * 1024;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
/** Base64 of the 64 octets of an HMAC-SHA512. */
const SIGNATURE = /^[A-Za-z0-9+/]{86}==$/;

/** The body of a POST as its headers describe it, before any of the body is read. */
export interface WebhookHead {
  /** `X-Goog-Signature`. */
  readonly signature: string | undefined;
  readonly contentType: string | undefined;
  /** Null for a chunked body. */
  readonly contentLength: number | null;
}

export type HeadVerdict =
  | { readonly kind: 'read'; /** A longer body is refused. */ readonly maxOctets: number }
  | { readonly kind: 'refuse'; readonly code: 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'UNAUTHORIZED' };

/**
 * Decides by the headers alone whether a body may be read. An unsigned body can only be a configuration handshake,
 * which is small; every other unsigned body is refused without reading it. A header that cannot be a signature counts
 * as none.
 */
export function judgeWebhookHead({ signature, contentType, contentLength }: WebhookHead): HeadVerdict {
  if (contentLength !== null && contentLength > MAX_BODY_OCTETS) return { kind: 'refuse', code: 'PAYLOAD_TOO_LARGE' };
  if (contentType !== undefined && !JSON_TYPE.test(contentType)) {
    return { kind: 'refuse', code: 'UNSUPPORTED_MEDIA_TYPE' };
  }
  if (signature !== undefined && SIGNATURE.test(signature)) return { kind: 'read', maxOctets: MAX_BODY_OCTETS };
  if (contentLength !== null && contentLength > MAX_HANDSHAKE_OCTETS) return { kind: 'refuse', code: 'UNAUTHORIZED' };
  return { kind: 'read', maxOctets: MAX_HANDSHAKE_OCTETS };
}
