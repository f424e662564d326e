import { request, type Dispatcher } from 'undici';
import type { CallDeadline } from './call-deadline.js';

/** One request to the platform. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * What came of it. `unsent` never left: no connection was made. `lost` may have arrived: the connection ended, or the time
 * did, before an answer.
 */
export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: Buffer }
  | { readonly kind: 'unsent'; readonly because: string }
  | { readonly kind: 'lost'; readonly because: 'timeout' | 'stopped' | 'connection_lost' };

/** Of an answer no more is read. */
const MAX_ANSWER_OCTETS = 16 * 1024;

/** Codes of Node and undici for a connection that was never made. Whatever else fails may have left. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set(
  ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].concat(
    ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ),
);

/** Makes one call, redirects not followed. Never rejects. */
export async function makeCall(dispatcher: Dispatcher, call: Call, deadline: CallDeadline): Promise<Answer> {
  const { url, method, headers, body = null } = call;
  try {
    const { signal } = deadline;
    const response = await request(url, { method, headers: { ...headers }, body, dispatcher, signal });
    return { kind: 'answered', status: response.statusCode, body: await beginningOf(response.body) };
  } catch (error) {
    return deadline.reached === null ? failureOf(error) : { kind: 'lost', because: deadline.reached };
  }
}

/** The status is what counts: an answer whose rest is slow, broken or endless is an answer all the same. */
async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
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
    // What came until then is what there is.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_OCTETS);
}

function failureOf(error: unknown): Answer {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return NEVER_CONNECTED.has(code) ? { kind: 'unsent', because: code } : { kind: 'lost', because: 'connection_lost' };
}
