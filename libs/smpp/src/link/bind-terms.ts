import { LIMITS_OF_34, LIMITS_OF_50 } from '../codec/decode.js';
import type { DecodeLimits } from '../codec/decode.js';
import type { BindCall, BindRequest, EsmeEndpoint, SmscEndpoint } from './link-options.js';
import type { BindType } from './link-state.js';
import type { BindPdu, BindRespPdu, Outgoing } from '../pdu/pdu.js';
import { NO_TLVS, integerTlv, tlvInteger } from '../pdu/tlv.js';

export const VERSION_34 = 0x34;
const VERSION_50 = 0x50;

/** The terms agreed by a bind. */
export interface BindTerms {
  readonly bindType: BindType;
  /** The system_id of the peer. */
  readonly systemId: string;
  /** The lower of both sides' interface versions. */
  readonly version: number;
  /** Whether TLVs may be sent to the peer (SMPP 3.4 section 3.4). */
  readonly acceptsTlvs: boolean;
  readonly limits: DecodeLimits;
}

const BIND_COMMANDS = {
  transmitter: 'bind_transmitter',
  receiver: 'bind_receiver',
  transceiver: 'bind_transceiver',
} as const;
const BIND_TYPES = {
  bind_transmitter: 'transmitter',
  bind_receiver: 'receiver',
  bind_transceiver: 'transceiver',
} as const;
const BIND_RESPONSES = {
  bind_transmitter: 'bind_transmitter_resp',
  bind_receiver: 'bind_receiver_resp',
  bind_transceiver: 'bind_transceiver_resp',
} as const;

const terms = (bindType: BindType, systemId: string, version: number, acceptsTlvs: boolean): BindTerms => ({
  bindType,
  systemId,
  version,
  acceptsTlvs,
  limits: version >= VERSION_50 ? LIMITS_OF_50 : LIMITS_OF_34,
});

/** The bind that an ESME sends. */
export function bindPdu(call: BindCall, interfaceVersion: number): Outgoing<BindPdu> {
  const fields = {
    systemId: call.systemId,
    password: call.password,
    systemType: call.systemType ?? '',
    interfaceVersion,
    addressTon: call.addressTon ?? 0,
    addressNpi: call.addressNpi ?? 0,
    addressRange: call.addressRange ?? '',
  };
  return { command: BIND_COMMANDS[call.bindType], status: 0, fields, tlvs: NO_TLVS };
}

/** The terms for an ESME, from the SMSC's bind response. */
export function termsOfAnswer(call: BindCall, answer: BindRespPdu, ours: EsmeEndpoint): BindTerms {
  const declaredVersion = tlvInteger(answer, 'sc_interface_version');
  const peerVersion = declaredVersion ?? (ours.assumeTlvs === false ? 0 : ours.interfaceVersion);
  const version = Math.min(peerVersion, ours.interfaceVersion);
  return terms(call.bindType, answer.fields.systemId, version, version >= VERSION_34);
}

export function bindRequest(bind: BindPdu): BindRequest {
  return { ...bind.fields, bindType: BIND_TYPES[bind.command] };
}

/** The terms for an SMSC, from the ESME's bind. */
export function termsOfBind(bind: BindPdu, ourVersion: number): BindTerms {
  const { systemId, interfaceVersion } = bind.fields;
  const version = Math.min(interfaceVersion, ourVersion);
  return terms(BIND_TYPES[bind.command], systemId, version, version >= VERSION_34);
}

/**
 * Our bind response. Peers of 3.4 and later get sc_interface_version, the version of this session: some stacks for 3.4 do
 * not know 0x50. A refusal has no system_id.
 */
export function bindAnswer(bind: BindPdu, status: number, ours: SmscEndpoint): BindRespPdu {
  const isAccepted = status === 0;
  const { interfaceVersion } = bind.fields;
  const version = Math.min(interfaceVersion >= VERSION_50 ? VERSION_50 : VERSION_34, ours.interfaceVersion);
  const includesVersion = isAccepted && interfaceVersion >= VERSION_34;
  return {
    command: BIND_RESPONSES[bind.command],
    status,
    sequence: bind.sequence,
    fields: { systemId: isAccepted ? (ours.systemId ?? '') : '' },
    tlvs: includesVersion ? [integerTlv('sc_interface_version', version)] : NO_TLVS,
  };
}
