import { createHash } from 'node:crypto';
import type { Uuid } from '@countersign/ids';

/** A random namespace of this product, so that its names are distinct from those of others. */
const NAMESPACE: Uuid = '6a1f0e52-7a0d-4b0b-9a35-3c2f8c1f5d64';
const UUID_OCTETS = 16;

/** The card, or the closing text after a tap. */
type MessageKind = 'card' | 'closing';

/** The platform's id of a message. Deterministic per session, so that a message sent again after a crash is no second one. */
export function messageIdOf(id: Uuid, kind: MessageKind): Uuid {
  return uuidOfName(NAMESPACE, `${kind}:${id}`);
}

/** A UUID of version 5 (RFC 9562, 5.5). */
export function uuidOfName(namespace: Uuid, name: string): Uuid {
  const octets = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest()
    .subarray(0, UUID_OCTETS);
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x50, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
