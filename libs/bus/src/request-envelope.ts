/** A request or a response in its encoded form: a line of JSON, then the payload's octets. */
export interface RequestEnvelope {
  /** Request id, unique per requester; repeated in the response. */
  readonly id: string;
  /** The requester's response topic; empty in a response. */
  readonly replyTo: string;
  readonly payload: Buffer;
}

const END_OF_HEAD = 0x0a;

export function encodeEnvelope({ id, replyTo, payload }: RequestEnvelope): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ id, replyTo })}\n`), payload]);
}

/** Null for octets that are not in this form. */
export function decodeEnvelope(octets: Buffer): RequestEnvelope | null {
  const end = octets.indexOf(END_OF_HEAD);
  if (end < 0) return null;
  const head = parseHead(octets.toString('utf8', 0, end));
  return head === null ? null : { ...head, payload: octets.subarray(end + 1) };
}

function parseHead(text: string): Pick<RequestEnvelope, 'id' | 'replyTo'> | null {
  try {
    const head: unknown = JSON.parse(text);
    if (typeof head !== 'object' || head === null || !('id' in head) || !('replyTo' in head)) return null;
    const { id, replyTo } = head;
    return typeof id === 'string' && typeof replyTo === 'string' ? { id, replyTo } : null;
  } catch {
    return null;
  }
}
