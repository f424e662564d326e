/**
 * Typings for npm `smpp` 0.5.1, which ships none, limited to what Countersign uses: dictionary.spec.ts compares its
 * dictionary, the carrier simulator and the tests use its sessions as the peer. It is a CommonJS module: import the
 * default and read from it.
 */
declare module 'smpp' {
  import { EventEmitter } from 'node:events';
  import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

  export interface FieldType {
    read(buffer: Buffer, offset: number, length?: number): unknown;
    write(value: unknown, buffer: Buffer, offset: number): void;
    size(value: unknown): number;
    readonly default?: unknown;
  }
  export interface CommandDefinition {
    readonly id: number;
    readonly command: string;
    readonly params?: Readonly<Record<string, { readonly type: FieldType; readonly default?: unknown }>>;
  }
  export interface TlvDefinition {
    readonly id: number;
    readonly tag: string;
    readonly type: FieldType;
    readonly multiple?: boolean;
  }

  export type CommandName =
    | 'alert_notification'
    | 'bind_receiver'
    | 'bind_receiver_resp'
    | 'bind_transmitter'
    | 'bind_transmitter_resp'
    | 'bind_transceiver'
    | 'bind_transceiver_resp'
    | 'broadcast_sm'
    | 'broadcast_sm_resp'
    | 'cancel_broadcast_sm'
    | 'cancel_broadcast_sm_resp'
    | 'cancel_sm'
    | 'cancel_sm_resp'
    | 'data_sm'
    | 'data_sm_resp'
    | 'deliver_sm'
    | 'deliver_sm_resp'
    | 'enquire_link'
    | 'enquire_link_resp'
    | 'generic_nack'
    | 'outbind'
    | 'query_broadcast_sm'
    | 'query_broadcast_sm_resp'
    | 'query_sm'
    | 'query_sm_resp'
    | 'replace_sm'
    | 'replace_sm_resp'
    | 'submit_multi'
    | 'submit_multi_resp'
    | 'submit_sm'
    | 'submit_sm_resp'
    | 'unbind'
    | 'unbind_resp';

  export type TlvName =
    | 'dest_addr_subunit'
    | 'dest_network_type'
    | 'dest_bearer_type'
    | 'dest_telematics_id'
    | 'source_addr_subunit'
    | 'source_network_type'
    | 'source_bearer_type'
    | 'source_telematics_id'
    | 'qos_time_to_live'
    | 'payload_type'
    | 'additional_status_info_text'
    | 'receipted_message_id'
    | 'ms_msg_wait_facilities'
    | 'privacy_indicator'
    | 'source_subaddress'
    | 'dest_subaddress'
    | 'user_message_reference'
    | 'user_response_code'
    | 'source_port'
    | 'dest_port'
    | 'sar_msg_ref_num'
    | 'language_indicator'
    | 'sar_total_segments'
    | 'sar_segment_seqnum'
    | 'sc_interface_version'
    | 'callback_num_pres_ind'
    | 'callback_num_atag'
    | 'number_of_messages'
    | 'callback_num'
    | 'dpf_result'
    | 'set_dpf'
    | 'ms_availability_status'
    | 'network_error_code'
    | 'message_payload'
    | 'delivery_failure_reason'
    | 'more_messages_to_send'
    | 'message_state'
    | 'congestion_state'
    | 'ussd_service_op'
    | 'broadcast_channel_indicator'
    | 'broadcast_content_type'
    | 'broadcast_content_type_info'
    | 'broadcast_message_class'
    | 'broadcast_rep_num'
    | 'broadcast_frequency_interval'
    | 'broadcast_area_identifier'
    | 'broadcast_error_status'
    | 'broadcast_area_success'
    | 'broadcast_end_time'
    | 'broadcast_service_group'
    | 'billing_identification'
    | 'source_network_id'
    | 'dest_network_id'
    | 'source_node_id'
    | 'dest_node_id'
    | 'dest_addr_np_resolution'
    | 'dest_addr_np_information'
    | 'dest_addr_np_country'
    | 'display_time'
    | 'sms_signal'
    | 'ms_validity'
    | 'alert_on_message_delivery'
    | 'its_reply_type'
    | 'its_session_info'
    | 'alert_on_msg_delivery'
    | 'failed_broadcast_area_identifier';

  /** Status codes by name, SMPP 3.4 section 5.1.3 and SMPP 5.0 section 4.7.6. */
  export interface Statuses {
    readonly ESME_ROK: 0x00000000;
    readonly ESME_RINVMSGLEN: 0x00000001;
    readonly ESME_RINVCMDLEN: 0x00000002;
    readonly ESME_RINVCMDID: 0x00000003;
    readonly ESME_RINVBNDSTS: 0x00000004;
    readonly ESME_RALYBND: 0x00000005;
    readonly ESME_RINVPRTFLG: 0x00000006;
    readonly ESME_RINVREGDLVFLG: 0x00000007;
    readonly ESME_RSYSERR: 0x00000008;
    readonly ESME_RINVSRCADR: 0x0000000a;
    readonly ESME_RINVDSTADR: 0x0000000b;
    readonly ESME_RINVMSGID: 0x0000000c;
    readonly ESME_RBINDFAIL: 0x0000000d;
    readonly ESME_RINVPASWD: 0x0000000e;
    readonly ESME_RINVSYSID: 0x0000000f;
    readonly ESME_RCANCELFAIL: 0x00000011;
    readonly ESME_RREPLACEFAIL: 0x00000013;
    readonly ESME_RMSGQFUL: 0x00000014;
    readonly ESME_RINVSERTYP: 0x00000015;
    readonly ESME_RINVNUMDESTS: 0x00000033;
    readonly ESME_RINVDLNAME: 0x00000034;
    readonly ESME_RINVDESTFLAG: 0x00000040;
    readonly ESME_RINVSUBREP: 0x00000042;
    readonly ESME_RINVESMCLASS: 0x00000043;
    readonly ESME_RCNTSUBDL: 0x00000044;
    readonly ESME_RSUBMITFAIL: 0x00000045;
    readonly ESME_RINVSRCTON: 0x00000048;
    readonly ESME_RINVSRCNPI: 0x00000049;
    readonly ESME_RINVDSTTON: 0x00000050;
    readonly ESME_RINVDSTNPI: 0x00000051;
    readonly ESME_RINVSYSTYP: 0x00000053;
    readonly ESME_RINVREPFLAG: 0x00000054;
    readonly ESME_RINVNUMMSGS: 0x00000055;
    readonly ESME_RTHROTTLED: 0x00000058;
    readonly ESME_RINVSCHED: 0x00000061;
    readonly ESME_RINVEXPIRY: 0x00000062;
    readonly ESME_RINVDFTMSGID: 0x00000063;
    readonly ESME_RX_T_APPN: 0x00000064;
    readonly ESME_RX_P_APPN: 0x00000065;
    readonly ESME_RX_R_APPN: 0x00000066;
    readonly ESME_RQUERYFAIL: 0x00000067;
    readonly ESME_RINVTLVSTREAM: 0x000000c0;
    readonly ESME_RTLVNOTALLWD: 0x000000c1;
    readonly ESME_RINVTLVLEN: 0x000000c2;
    readonly ESME_RMISSINGTLV: 0x000000c3;
    readonly ESME_RINVTLVVAL: 0x000000c4;
    readonly ESME_RDELIVERYFAILURE: 0x000000fe;
    readonly ESME_RUNKNOWNERR: 0x000000ff;
    readonly ESME_RSERTYPUNAUTH: 0x00000100;
    readonly ESME_RPROHIBITED: 0x00000101;
    readonly ESME_RSERTYPUNAVAIL: 0x00000102;
    readonly ESME_RSERTYPDENIED: 0x00000103;
    readonly ESME_RINVDCS: 0x00000104;
    readonly ESME_RINVSRCADDRSUBUNIT: 0x00000105;
    readonly ESME_RINVDSTADDRSUBUNIT: 0x00000106;
    readonly ESME_RINVBCASTFREQINT: 0x00000107;
    readonly ESME_RINVBCASTALIAS_NAME: 0x00000108;
    readonly ESME_RINVBCASTAREAFMT: 0x00000109;
    readonly ESME_RINVNUMBCAST_AREAS: 0x0000010a;
    readonly ESME_RINVBCASTCNTTYPE: 0x0000010b;
    readonly ESME_RINVBCASTMSGCLASS: 0x0000010c;
    readonly ESME_RBCASTFAIL: 0x0000010d;
    readonly ESME_RBCASTQUERYFAIL: 0x0000010e;
    readonly ESME_RBCASTCANCELFAIL: 0x0000010f;
    readonly ESME_RINVBCAST_REP: 0x00000110;
    readonly ESME_RINVBCASTSRVGRP: 0x00000111;
    readonly ESME_RINVBCASTCHANIND: 0x00000112;
  }

  export interface TextMessage {
    readonly udh?: Buffer | readonly Buffer[];
    readonly message?: string | Buffer;
  }
  export interface CallbackNumber {
    readonly digit_mode: number;
    readonly ton: number;
    readonly npi: number;
    readonly number: string;
  }
  /** Header, mandatory fields and TLVs of a PDU in one object, each under its dictionary name. */
  export interface PduValues {
    command_status?: number;
    sequence_number?: number;
    system_id?: string;
    password?: string;
    system_type?: string;
    interface_version?: number;
    addr_ton?: number;
    addr_npi?: number;
    address_range?: string;
    service_type?: string;
    source_addr_ton?: number;
    source_addr_npi?: number;
    source_addr?: string;
    dest_addr_ton?: number;
    dest_addr_npi?: number;
    destination_addr?: string;
    esme_addr_ton?: number;
    esme_addr_npi?: number;
    esme_addr?: string;
    esm_class?: number;
    protocol_id?: number;
    priority_flag?: number;
    schedule_delivery_time?: string | Date;
    validity_period?: string | Date;
    registered_delivery?: number;
    replace_if_present_flag?: number;
    data_coding?: number | null;
    sm_default_msg_id?: number;
    /** A decoded PDU has the object form when data_coding is known, else octets. */
    short_message?: TextMessage | string | Buffer;
    message_id?: string;
    message_payload?: TextMessage | string | Buffer;
    receipted_message_id?: string;
    message_state?: number;
    network_error_code?: Buffer;
    sc_interface_version?: number;
    sar_msg_ref_num?: number;
    sar_total_segments?: number;
    sar_segment_seqnum?: number;
    user_message_reference?: number;
    source_port?: number;
    dest_port?: number;
    more_messages_to_send?: number;
    callback_num?: readonly (Buffer | CallbackNumber)[];
  }

  export interface PDU extends Omit<PduValues, 'command_status' | 'sequence_number'> {
    command: CommandName | 'unknown';
    command_length: number;
    command_id: number;
    command_status: number;
    sequence_number: number;
    isResponse(): boolean;
    response(values?: PduValues): PDU;
    toBuffer(): Buffer;
  }
  export interface PduConstructor {
    new (octets: Buffer): PDU;
    new (command: CommandName, values?: PduValues): PDU;
    /** Largest command_length that a session of npm `smpp` reads, in octets. */
    maxLength: number;
  }

  export type PduCallback = (pdu: PDU) => void;
  export type PduSender = (values?: PduValues, onResponse?: PduCallback, onSent?: PduCallback) => boolean;

  export interface SessionOptions {
    host?: string;
    port?: number;
    url?: string;
    tls?: boolean;
    ca?: string | Buffer;
    cert?: string | Buffer;
    key?: string | Buffer;
    servername?: string;
    rejectUnauthorized?: boolean;
    localAddress?: string;
    auto_enquire_link_period?: number;
  }

  export interface Session extends EventEmitter, Readonly<Record<CommandName, PduSender>> {
    readonly socket: Socket;
    sequence: number;
    paused: boolean;
    send(pdu: PDU, onResponse?: PduCallback, onSent?: PduCallback): boolean;
    pause(): void;
    resume(): void;
    close(onClosed?: () => void): void;
    destroy(onClosed?: () => void): void;
    on(event: 'connect' | 'secureConnect' | 'close', listener: () => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'pdu' | 'unknown' | 'send' | CommandName, listener: PduCallback): this;
    once(event: 'connect' | 'secureConnect' | 'close', listener: () => void): this;
    once(event: 'error', listener: (error: Error) => void): this;
    once(event: 'pdu' | 'unknown' | 'send' | CommandName, listener: PduCallback): this;
  }

  /** A net.Server (tls.Server when made with key and cert) that wraps every connection in a session. */
  export type Server = {
    readonly sessions: Session[];
    readonly tls: boolean;
    address(): AddressInfo;
    on(event: 'session', listener: (session: Session) => void): Server;
  } & NetServer;
  export interface ServerOptions {
    key?: string | Buffer;
    cert?: string | Buffer;
    minVersion?: 'TLSv1.2' | 'TLSv1.3';
  }

  interface Smpp {
    readonly PDU: PduConstructor;
    readonly commands: Readonly<Record<CommandName, CommandDefinition>>;
    readonly commandsById: Readonly<Record<number, CommandDefinition>>;
    readonly tlvs: Readonly<Record<TlvName, TlvDefinition>>;
    readonly tlvsById: Readonly<Record<number, TlvDefinition>>;
    /** The types of TLV values by name; the types of mandatory fields are siblings of `tlv`. */
    readonly types: {
      readonly tlv: Readonly<Record<'int8' | 'int16' | 'int32' | 'cstring' | 'string' | 'buffer', FieldType>>;
    };
    readonly errors: Statuses;
    createServer(listener?: (session: Session) => void): Server;
    createServer(options: ServerOptions, listener?: (session: Session) => void): Server;
    connect(options: SessionOptions | string, listener?: () => void): Session;
  }
  const smpp: Smpp;
  export default smpp;
}

/** npm `smpp` 0.6.0-rc.4 beside 0.5.1, for tests: a second peer implementation with the same API. */
declare module 'smpp-rc' {
  import smpp from 'smpp';
  export default smpp;
}
