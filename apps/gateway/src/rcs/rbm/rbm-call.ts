import { request, type Dispatcher } from 'undici';
import type { CallDeadline } from './call-deadline.js';

/** One HTTP request to the platform. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * The result of a call. `unsent`: no connection was made. `lost`: the connection or the deadline ended before an answer, so
 * the request may have arrived.
 */
export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'unsent'; readonly because: string }
  | { readonly kind: 'lost'; readonly because: 'timeout' | 'stopped' | 'connection_lost' };

/** The rest of a longer body is not read. */
const MAX_ANSWER_OCTETS = 16 * 1024;

/** Error codes of Node and undici for a connection that was never made. After any other error the request may have been sent. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set(
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].concat(
    ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ),
);

/** Makes one call without following redirects. Never rejects. */
export async function makeCall(dispatcher: Dispatcher, call: Call, deadline: CallDeadline): Promise<Answer> {
  const { url, method, headers, body = null } = call;
  try {
    const { signal } = deadline;
    const response = await request(url, { method, headers: { ...headers }, body, dispatcher, signal });
    return { kind: 'answered', status: response.statusCode, body: await readBody(response.body) };
  } catch (error) {
    return deadline.reached === null ? failureOf(error) : { kind: 'lost', because: deadline.reached };
  }
}

/** Reads up to MAX_ANSWER_OCTETS. A slow, broken or endless body does not fail the call, since the status decides. */
async function readBody(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let octets = 0;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) break;
      chunks.push(chunk);
      octets += chunk.length;
      if (octets > MAX_ANSWER_OCTETS) break;
    }
  } catch {
    // The octets received so far are the body.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_OCTETS);
}

function failureOf(error: unknown): Answer {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return NEVER_CONNECTED.has(code) ? { kind: 'unsent', because: code } : { kind: 'lost', because: 'connection_lost' };
}
