type TlvTable = Readonly<Record<string, readonly [tag: number, octets?: number]>>;

/**
 * Optional parameters of SMPP by name: the tag, and for integers the number of octets (SMPP 3.4 section 5.3.2, 5.0 section
 * 4.8.4). Equal to the tables of `libs/smpp`, which a control plane does not load.
 */
export const SMPP_TLVS: TlvTable = {
  dest_addr_subunit: [0x0005, 1],
  dest_network_type: [0x0006, 1],
  dest_bearer_type: [0x0007, 1],
  dest_telematics_id: [0x0008, 2],
  source_addr_subunit: [0x000d, 1],
  source_network_type: [0x000e, 1],
  source_bearer_type: [0x000f, 1],
  source_telematics_id: [0x0010, 2],
  qos_time_to_live: [0x0017, 4],
  payload_type: [0x0019, 1],
  additional_status_info_text: [0x001d],
  receipted_message_id: [0x001e],
  ms_msg_wait_facilities: [0x0030, 1],
  privacy_indicator: [0x0201, 1],
  source_subaddress: [0x0202],
  dest_subaddress: [0x0203],
  user_message_reference: [0x0204, 2],
  user_response_code: [0x0205, 1],
  source_port: [0x020a, 2],
  dest_port: [0x020b, 2],
  sar_msg_ref_num: [0x020c, 2],
  language_indicator: [0x020d, 1],
  sar_total_segments: [0x020e, 1],
  sar_segment_seqnum: [0x020f, 1],
  sc_interface_version: [0x0210, 1],
  callback_num_pres_ind: [0x0302, 1],
  callback_num_atag: [0x0303],
  number_of_messages: [0x0304, 1],
  callback_num: [0x0381],
  dpf_result: [0x0420, 1],
  set_dpf: [0x0421, 1],
  ms_availability_status: [0x0422, 1],
  network_error_code: [0x0423],
  message_payload: [0x0424],
  delivery_failure_reason: [0x0425, 1],
  more_messages_to_send: [0x0426, 1],
  message_state: [0x0427, 1],
  congestion_state: [0x0428, 1],
  ussd_service_op: [0x0501, 1],
  broadcast_channel_indicator: [0x0600, 1],
  broadcast_content_type: [0x0601],
  broadcast_content_type_info: [0x0602],
  broadcast_message_class: [0x0603, 1],
  broadcast_rep_num: [0x0604, 2],
  broadcast_frequency_interval: [0x0605],
  broadcast_area_identifier: [0x0606],
  broadcast_error_status: [0x0607, 4],
  broadcast_area_success: [0x0608, 1],
  broadcast_end_time: [0x0609],
  broadcast_service_group: [0x060a],
  billing_identification: [0x060b],
  source_network_id: [0x060d],
  dest_network_id: [0x060e],
  source_node_id: [0x060f],
  dest_node_id: [0x0610],
  dest_addr_np_resolution: [0x0611, 1],
  dest_addr_np_information: [0x0612],
  dest_addr_np_country: [0x0613, 4],
  display_time: [0x1201, 1],
  sms_signal: [0x1203, 2],
  ms_validity: [0x1204],
  alert_on_message_delivery: [0x130c, 1],
  its_reply_type: [0x1380, 1],
  its_session_info: [0x1383],
};

/** Vendor TLVs by name: those of India's DLT, in the range of vendors (SMPP 3.4, 5.3.1). */
export const VENDOR_TLVS: TlvTable = {
  dlt_principal_entity_id: [0x1400],
  dlt_template_id: [0x1401],
  dlt_telemarketer_chain: [0x1402],
};

const HEX_TAG = /^0x[0-9a-f]{1,4}$/i;
const MAX_TAG = 0xffff;

const TAG_BY_NAME: ReadonlyMap<string, number> = new Map(
  Object.entries({ ...SMPP_TLVS, ...VENDOR_TLVS }).map(([name, [tag]]) => [name, tag]),
);

/** The tag of a number, a text such as `0x1400`, or a name; null for any other value. */
export function tagOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= MAX_TAG ? value : null;
  if (typeof value !== 'string') return null;
  return HEX_TAG.test(value) ? Number.parseInt(value, 16) : (TAG_BY_NAME.get(value) ?? null);
}

const OCTETS_BY_TAG: ReadonlyMap<number, number> = new Map(
  Object.values(SMPP_TLVS).flatMap(([tag, octets]) => (octets === undefined ? [] : [[tag, octets] as const])),
);

/** The length of an integer of SMPP; null for a tag with a value of any length. */
export const octetsOfTag = (tag: number): number | null => OCTETS_BY_TAG.get(tag) ?? null;

const SET_BY_CONCATENATION: ReadonlySet<number> = new Set(
  ['sar_msg_ref_num', 'sar_total_segments', 'sar_segment_seqnum', 'message_payload'].map((name) => tagOf(name) ?? -1),
);

/** Whether the option `concatenation` decides on this TLV. */
export const isSetByConcatenation = (tag: number): boolean => SET_BY_CONCATENATION.has(tag);
