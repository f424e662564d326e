import type { CustomFetch } from 'openid-client';

/** Octets of the largest answer that is read: metadata, keys or tokens of a provider have some kilobytes. */
const MAX_ANSWER_OCTETS = 262_144;

/** As `fetch`, for a server that may answer without end. Rejects for an answer with more than MAX_ANSWER_OCTETS. */
export const boundedFetch: CustomFetch = async (url, options) => {
  const { body, status, headers } = await fetch(url, { ...options, body: options.body ?? null });
  if (body === null) return new Response(null, { status, headers });
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    octets += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (octets > MAX_ANSWER_OCTETS) throw new Error(`the answer has more than ${MAX_ANSWER_OCTETS} octets`);
    chunks.push(chunk);
  }
  return new Response(octets === 0 ? null : Buffer.concat(chunks), { status, headers });
};
