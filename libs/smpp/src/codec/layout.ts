import { RESPONSE_BIT, STATUS, commandId } from '../pdu/dictionary.js';
import { messageType } from '../pdu/esm-class.js';
import type { CommandName, FieldsOf, FieldValue, SmppAddress } from '../pdu/pdu.js';

/** A field of one octet. `allows` restricts its values; `fault` is the status for a rejected value. */
interface Uint8Spec {
  readonly kind: 'uint8';
  readonly fault: number;
  readonly allows: ((value: number) => boolean) | null;
}
/** A C-octet string of at most `limit` octets before its NUL. */
interface CStringSpec {
  readonly kind: 'cstring';
  readonly limit: number;
  readonly fault: number;
}
/** Empty or 16 characters: SMPP 3.4 section 7.1.1. */
interface TimeSpec {
  readonly kind: 'time';
  readonly fault: number;
}
/** TON, NPI and a C-octet string of at most `limit` octets. */
interface AddressSpec {
  readonly kind: 'address';
  readonly limit: number;
  readonly fault: number;
}
/** One length octet, then that many octets. */
interface OctetsSpec {
  readonly kind: 'octets';
  readonly fault: number;
}
type AnySpec = Uint8Spec | CStringSpec | TimeSpec | AddressSpec | OctetsSpec;
type SpecOf<Value> = Value extends number
  ? Uint8Spec
  : Value extends string
    ? CStringSpec | TimeSpec
    : Value extends SmppAddress
      ? AddressSpec
      : OctetsSpec;
/** The fields of a command in wire order, each with a specification that matches its type. */
type Layout<Fields> = { readonly [Name in keyof Fields]-?: SpecOf<Fields[Name]> };

export type FieldSpec = AnySpec & { readonly name: string };
export interface CommandLayout {
  readonly command: CommandName;
  readonly id: number;
  readonly isResponse: boolean;
  readonly fields: readonly FieldSpec[];
  /** Every field empty or zero: the shape of a decoded PDU, and the fields of a response without a body. */
  readonly blank: Readonly<Record<string, FieldValue>>;
}

const uint8: Uint8Spec = { kind: 'uint8', fault: STATUS.ESME_ROK, allows: null };
const cstring = (limit: number, fault: number): CStringSpec => ({ kind: 'cstring', limit, fault });
const time = (fault: number): TimeSpec => ({ kind: 'time', fault });
const address = (limit: number, fault: number): AddressSpec => ({ kind: 'address', limit, fault });

/** All message types that either version defines (5.0 section 4.7.12). */
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0x00, 0x04, 0x08, 0x10, 0x18, 0x20]);
const esmClass: Uint8Spec = {
  kind: 'uint8',
  fault: STATUS.ESME_RINVESMCLASS,
  allows: (value) => MESSAGE_TYPES.has(messageType(value)),
};

const SYSTEM_ID = cstring(15, STATUS.ESME_RINVSYSID);
const PASSWORD = cstring(8, STATUS.ESME_RINVPASWD);
const SERVICE_TYPE = cstring(5, STATUS.ESME_RINVSERTYP);

const BIND: Layout<FieldsOf['bind_transceiver']> = {
  systemId: SYSTEM_ID,
  password: PASSWORD,
  systemType: cstring(12, STATUS.ESME_RINVSYSTYP),
  interfaceVersion: uint8,
  addressTon: uint8,
  addressNpi: uint8,
  // No status is specific to address_range: the bind as a whole fails.
  addressRange: cstring(40, STATUS.ESME_RBINDFAIL),
};
const BIND_RESP: Layout<FieldsOf['bind_transceiver_resp']> = { systemId: SYSTEM_ID };
const OUTBIND: Layout<FieldsOf['outbind']> = { systemId: SYSTEM_ID, password: PASSWORD };
const MESSAGE: Layout<FieldsOf['submit_sm']> = {
  serviceType: SERVICE_TYPE,
  sourceAddress: address(20, STATUS.ESME_RINVSRCADR),
  destinationAddress: address(20, STATUS.ESME_RINVDSTADR),
  esmClass,
  protocolId: uint8,
  priorityFlag: uint8,
  scheduleDeliveryTime: time(STATUS.ESME_RINVSCHED),
  validityPeriod: time(STATUS.ESME_RINVEXPIRY),
  registeredDelivery: uint8,
  replaceIfPresentFlag: uint8,
  dataCoding: uint8,
  smDefaultMsgId: uint8,
  shortMessage: { kind: 'octets', fault: STATUS.ESME_RINVMSGLEN },
};
const DATA: Layout<FieldsOf['data_sm']> = {
  serviceType: SERVICE_TYPE,
  sourceAddress: address(64, STATUS.ESME_RINVSRCADR),
  destinationAddress: address(64, STATUS.ESME_RINVDSTADR),
  esmClass,
  registeredDelivery: uint8,
  dataCoding: uint8,
};
const MESSAGE_ID = cstring(64, STATUS.ESME_RINVMSGID);
const MESSAGE_RESP: Layout<FieldsOf['submit_sm_resp']> = { messageId: MESSAGE_ID };
const ALERT: Layout<FieldsOf['alert_notification']> = {
  sourceAddress: address(64, STATUS.ESME_RINVSRCADR),
  esmeAddress: address(64, STATUS.ESME_RINVDSTADR),
};
const QUERY: Layout<FieldsOf['query_sm']> = { messageId: MESSAGE_ID, sourceAddress: MESSAGE.sourceAddress };
const CANCEL: Layout<FieldsOf['cancel_sm']> = {
  serviceType: SERVICE_TYPE,
  messageId: MESSAGE_ID,
  sourceAddress: MESSAGE.sourceAddress,
  destinationAddress: MESSAGE.destinationAddress,
};
const REPLACE: Layout<FieldsOf['replace_sm']> = {
  messageId: MESSAGE_ID,
  sourceAddress: MESSAGE.sourceAddress,
  scheduleDeliveryTime: MESSAGE.scheduleDeliveryTime,
  validityPeriod: MESSAGE.validityPeriod,
  registeredDelivery: uint8,
  smDefaultMsgId: uint8,
  shortMessage: MESSAGE.shortMessage,
};

const LAYOUTS: { readonly [Command in CommandName]: Layout<FieldsOf[Command]> } = {
  bind_receiver: BIND,
  bind_transmitter: BIND,
  bind_transceiver: BIND,
  bind_receiver_resp: BIND_RESP,
  bind_transmitter_resp: BIND_RESP,
  bind_transceiver_resp: BIND_RESP,
  outbind: OUTBIND,
  unbind: {},
  unbind_resp: {},
  enquire_link: {},
  enquire_link_resp: {},
  generic_nack: {},
  submit_sm: MESSAGE,
  submit_sm_resp: MESSAGE_RESP,
  deliver_sm: MESSAGE,
  deliver_sm_resp: MESSAGE_RESP,
  data_sm: DATA,
  data_sm_resp: MESSAGE_RESP,
  alert_notification: ALERT,
  query_sm: QUERY,
  cancel_sm: CANCEL,
  replace_sm: REPLACE,
};

function blankOf(spec: AnySpec): FieldValue {
  if (spec.kind === 'uint8') return 0;
  if (spec.kind === 'address') return { ton: 0, npi: 0, value: '' };
  return spec.kind === 'octets' ? Buffer.alloc(0) : '';
}

function layoutOf(command: CommandName, specs: Readonly<Record<string, AnySpec>>): CommandLayout {
  const id = commandId(command);
  const fields = Object.entries(specs).map(([name, spec]) => ({ ...spec, name }));
  const blank = Object.fromEntries(fields.map((spec) => [spec.name, blankOf(spec)]));
  return { command, id, isResponse: id >= RESPONSE_BIT, fields, blank };
}

const isCommandName = (name: string): name is CommandName => name in LAYOUTS;
const ALL: readonly CommandLayout[] = Object.keys(LAYOUTS)
  .filter(isCommandName)
  .map((command) => layoutOf(command, LAYOUTS[command]));
const BY_COMMAND: ReadonlyMap<CommandName, CommandLayout> = new Map(ALL.map((layout) => [layout.command, layout]));

// Sparse arrays indexed by the low bits of command_id: faster than hashing a number above 2^31.
const REQUESTS: (CommandLayout | undefined)[] = [];
const RESPONSES: (CommandLayout | undefined)[] = [];
for (const layout of ALL) (layout.isResponse ? RESPONSES : REQUESTS)[layout.id % RESPONSE_BIT] = layout;

/** The layout of a command_id read as a signed 32-bit number (responses are negative). */
export function layoutOfId(signedId: number): CommandLayout | undefined {
  return signedId < 0 ? RESPONSES[signedId & 0x7fff_ffff] : REQUESTS[signedId];
}

export function layoutOfCommand(command: CommandName): CommandLayout {
  const layout = BY_COMMAND.get(command);
  if (layout === undefined) throw new RangeError(`no layout for ${command}`);
  return layout;
}
