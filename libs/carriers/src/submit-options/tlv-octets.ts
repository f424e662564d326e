import type { TlvOption } from './submit-options.js';
import { tagOf } from './tlv-tags.js';

/** The values of placeholders such as `{{country}}`. The code is never one. */
export interface TlvValues {
  /** The brand's name. */
  readonly brand: string;
  /** The source address as sent. */
  readonly sender: string;
  /** ISO 3166-1 alpha-2, or `001`. */
  readonly country: string;
  /** The id of the message in the API, `msg_…`. */
  readonly messageId: string;
}

/** Maximum octets of each placeholder's value; longer ones are cut between characters. */
export const PLACEHOLDER_OCTETS: Readonly<Record<keyof TlvValues, number>> = {
  brand: 100,
  sender: 20,
  country: 3,
  messageId: 30,
};
export const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

const INTEGER_OCTETS = { uint8: 1, uint16: 2, uint32: 4 } as const;

export const isIntegerType = (type: unknown): type is keyof typeof INTEGER_OCTETS =>
  typeof type === 'string' && Object.hasOwn(INTEGER_OCTETS, type);

export const integerOctets = (type: keyof typeof INTEGER_OCTETS): number => INTEGER_OCTETS[type];

export interface EncodedTlv {
  readonly tag: number;
  readonly value: Buffer;
}

/** The TLVs of checked options, in their order. */
export const encodeTlvs = (tlvs: readonly TlvOption[], values: TlvValues): EncodedTlv[] =>
  tlvs.map(({ tag, type, value }) => ({ tag: tagOf(tag) ?? 0, value: octetsOf(type, value, values) }));

function octetsOf(type: TlvOption['type'], value: number | string, values: TlvValues): Buffer {
  if (isIntegerType(type)) {
    const octets = Buffer.alloc(integerOctets(type));
    octets.writeUIntBE(Number(value), 0, octets.length);
    return octets;
  }
  if (type === 'hex') return Buffer.from(String(value), 'hex');
  const text = expand(String(value), values);
  return Buffer.from(type === 'cstring' ? `${text}\0` : text, 'utf8');
}

const isPlaceholder = (name: string): name is keyof TlvValues => Object.hasOwn(PLACEHOLDER_OCTETS, name);

const expand = (template: string, values: TlvValues): string =>
  template.replaceAll(PLACEHOLDER, (whole, name: string) =>
    isPlaceholder(name) ? cutTo(PLACEHOLDER_OCTETS[name], values[name]) : whole,
  );

/** Without NUL, which would end a C-octet string. */
function cutTo(maxOctets: number, text: string): string {
  let cut = '';
  let octets = 0;
  for (const character of text.replaceAll('\0', '')) {
    octets += Buffer.byteLength(character);
    if (octets > maxOctets) break;
    cut += character;
  }
  return cut;
}
