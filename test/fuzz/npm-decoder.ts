import type { Pdu, SmppAddress, Tlv } from '@countersign/smpp/pdu';
import smpp from 'smpp';
import type { CommandDefinition, PDU } from 'smpp';

/** A PDU as npm smpp read it, field by field; undefined for missing fields. */
export type TheirFields = Readonly<Record<string, unknown>>;

/** The fields in their order on the wire, each with npm smpp's name. An address is three fields there. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  systemId: ['system_id'],
  password: ['password'],
  systemType: ['system_type'],
  interfaceVersion: ['interface_version'],
  addressTon: ['addr_ton'],
  addressNpi: ['addr_npi'],
  addressRange: ['address_range'],
  serviceType: ['service_type'],
  sourceAddress: ['source_addr_ton', 'source_addr_npi', 'source_addr'],
  destinationAddress: ['dest_addr_ton', 'dest_addr_npi', 'destination_addr'],
  esmeAddress: ['esme_addr_ton', 'esme_addr_npi', 'esme_addr'],
  esmClass: ['esm_class'],
  protocolId: ['protocol_id'],
  priorityFlag: ['priority_flag'],
  scheduleDeliveryTime: ['schedule_delivery_time'],
  validityPeriod: ['validity_period'],
  registeredDelivery: ['registered_delivery'],
  replaceIfPresentFlag: ['replace_if_present_flag'],
  dataCoding: ['data_coding'],
  smDefaultMsgId: ['sm_default_msg_id'],
  shortMessage: ['short_message'],
  messageId: ['message_id'],
};

/**
 * Removes the filters from npm smpp's tables: they convert octets to texts, dates and lists irreversibly, and throw on
 * some. The common part of both decoders remains: fields, lengths and TLVs.
 */
export function takeFiltersOff(): void {
  const commands: readonly CommandDefinition[] = Object.values(smpp.commands);
  const tables: readonly object[] = [
    ...commands.flatMap(({ params }) => Object.values(params ?? {})),
    ...Object.values(smpp.tlvs),
  ];
  for (const entry of tables) Reflect.deleteProperty(entry, 'filter');
}

/** Null where npm smpp throws. */
export function readByNpm(octets: Buffer): PDU | null {
  try {
    return new smpp.PDU(octets);
  } catch {
    return null;
  }
}

/** npm smpp reads strings as ASCII, without their eighth bit. */
const sevenBits = (text: string): string =>
  Array.from(text, (letter) => String.fromCharCode(letter.charCodeAt(0) & 0x7f)).join('');

const partsOf = (value: number | string | Buffer | SmppAddress): readonly unknown[] => {
  if (typeof value === 'string') return [sevenBits(value)];
  if (typeof value === 'number') return [value];
  return Buffer.isBuffer(value) ? [value.toString('hex')] : [value.ton, value.npi, sevenBits(value.value)];
};

const comparable = (value: unknown): unknown => (Buffer.isBuffer(value) ? value.toString('hex') : value);

/** Fields that the decoders read differently: the name, our value and theirs. */
export function fieldDifferences(ours: Pdu, theirs: TheirFields): string[] {
  return Object.entries(ours.fields).flatMap(([name, value]) => {
    const names = NAMES[name] ?? [];
    return partsOf(value).flatMap((part, at) => {
      const their = comparable(theirs[names[at] ?? '']);
      return part === their ? [] : [`${names[at]}: ${JSON.stringify(part)} and ${JSON.stringify(their)}`];
    });
  });
}

/** npm smpp's expected value of a TLV; null where its reading is wrong (see the spec's list). */
function expectedTlv({ tag, value }: Tlv): { readonly name: string; readonly value: unknown } | null {
  const definition = smpp.tlvsById[tag];
  if (definition === undefined) return { name: String(tag), value: value.toString('hex') };
  const { types } = smpp;
  const name = definition.tag;
  switch (definition.type) {
    case types.tlv.int8:
    case types.tlv.int16:
    case types.tlv.int32:
      return value.length === definition.type.size(0) ? { name, value: value.readUIntBE(0, value.length) } : null;
    case types.tlv.cstring: {
      const end = value.indexOf(0);
      return end === -1 ? null : { name, value: sevenBits(value.toString('latin1', 0, end)) };
    }
    case types.tlv.string:
      return { name, value: sevenBits(value.toString('latin1')) };
    default:
      return { name, value: value.toString('hex') };
  }
}

/** Whether the PDU has a TLV that npm smpp reads wrongly; it may then read past the end of the PDU, and throw. */
export const hasMisreadTlv = (ours: Pdu): boolean => ours.tlvs.some((tlv) => expectedTlv(tlv) === null);

/** As `fieldDifferences`, for TLVs: npm smpp keeps the last of those with one tag, or a list of them. */
export function tlvDifferences(ours: Pdu, theirs: TheirFields): string[] {
  const last = new Map(ours.tlvs.map((tlv) => [tlv.tag, tlv]));
  return [...last.values()].flatMap((tlv) => {
    const expected = expectedTlv(tlv);
    if (expected === null) return [];
    const read = theirs[expected.name];
    const their = comparable(Array.isArray(read) ? read.at(-1) : read);
    return their === expected.value
      ? []
      : [`${expected.name}: ${JSON.stringify(expected.value)} and ${JSON.stringify(their)}`];
  });
}
