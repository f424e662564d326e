/** Hand-written octets for tests, independent of the codec under test. */
export const ID = {
  generic_nack: 0x8000_0000,
  bind_receiver: 0x1,
  bind_transmitter: 0x2,
  query_sm: 0x3,
  submit_sm: 0x4,
  deliver_sm: 0x5,
  unbind: 0x6,
  replace_sm: 0x7,
  cancel_sm: 0x8,
  bind_transceiver: 0x9,
  outbind: 0xb,
  enquire_link: 0x15,
  submit_multi: 0x21,
  alert_notification: 0x102,
  data_sm: 0x103,
  broadcast_sm: 0x111,
  query_broadcast_sm: 0x112,
  cancel_broadcast_sm: 0x113,
} as const;
export const RESP = 0x8000_0000;

export const uint8 = (...values: number[]): Buffer => Buffer.from(values);
export const cstring = (text: string): Buffer => Buffer.from(`${text}\0`, 'latin1');
export const counted = (text: string | Buffer): Buffer => {
  const octets = Buffer.from(text);
  return Buffer.concat([uint8(octets.length), octets]);
};
export const tlv = (tag: number, value: Uint8Array, claimedLength = value.length): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(tag, 0);
  head.writeUInt16BE(claimedLength, 2);
  return Buffer.concat([head, value]);
};

/** A PDU of these parts; texts are in latin1, without a NUL at their end. */
export function pdu(id: number, sequence: number, parts: readonly (Uint8Array | string)[] = [], status = 0): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  const head = Buffer.alloc(16);
  head.writeUInt32BE(16 + body.length, 0);
  head.writeUInt32BE(id, 4);
  head.writeUInt32BE(status, 8);
  head.writeUInt32BE(sequence, 12);
  return Buffer.concat([head, body]);
}

export const TEXT = 'AUTH-ACME-0123456789ABCDEF';

/** The fields of submit_sm and deliver_sm as octets, in wire order. */
export const MESSAGE_PARTS = {
  serviceType: cstring(''),
  source: Buffer.concat([uint8(1, 1), cstring('15551230001')]),
  destination: Buffer.concat([uint8(1, 1), cstring('15559870002')]),
  esmClass: uint8(0),
  protocolId: uint8(0),
  priority: uint8(0),
  schedule: cstring(''),
  validity: cstring(''),
  registered: uint8(0),
  replace: uint8(0),
  dataCoding: uint8(0),
  defaultMessage: uint8(0),
  text: counted(TEXT),
};
type MessageParts = Readonly<Record<keyof typeof MESSAGE_PARTS, Uint8Array>>;

export function message(
  changed: Partial<MessageParts> = {},
  tlvs: readonly Uint8Array[] = [],
  id: number = ID.submit_sm,
  sequence = 7,
): Buffer {
  return pdu(id, sequence, [...Object.values({ ...MESSAGE_PARTS, ...changed }), ...tlvs]);
}

export function dataMessage(tlvs: readonly Uint8Array[] = [], sequence = 7): Buffer {
  const { serviceType, source, destination, esmClass, registered, dataCoding } = MESSAGE_PARTS;
  return pdu(ID.data_sm, sequence, [serviceType, source, destination, esmClass, registered, dataCoding, ...tlvs]);
}

export interface BindParts {
  readonly systemId?: string;
  readonly password?: string;
  readonly systemType?: string;
  readonly version?: number;
  readonly addressRange?: string;
}
export function bind(id: number = ID.bind_transceiver, parts: BindParts = {}, sequence = 1): Buffer {
  return pdu(id, sequence, [
    cstring(parts.systemId ?? 'carrier'),
    cstring(parts.password ?? 'secret'),
    cstring(parts.systemType ?? ''),
    uint8(parts.version ?? 0x34, 0, 0),
    cstring(parts.addressRange ?? ''),
  ]);
}
export const enquireLink = (sequence: number): Buffer => pdu(ID.enquire_link, sequence);
