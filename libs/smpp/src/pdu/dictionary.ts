import { COMMAND_IDS, STATUS_CODES, TLVS } from './dictionary-tables.js';

export type DictionaryCommand = keyof typeof COMMAND_IDS;
export type StatusName = keyof typeof STATUS_CODES;
export type TlvName = keyof typeof TLVS;

/** Status codes by name (SMPP 3.4 section 5.1.3, 5.0 section 4.7.6), for example `STATUS.ESME_RTHROTTLED`. */
export const STATUS = STATUS_CODES;

/** The bit of command_id that marks a response. */
export const RESPONSE_BIT = 0x8000_0000;

export type TlvKind = 'int8' | 'int16' | 'int32' | 'cstring' | 'string' | 'buffer';
export interface TlvDefinition {
  readonly tag: number;
  readonly name: string;
  readonly kind: TlvKind;
}

const NAME_BY_ID: ReadonlyMap<number, string> = new Map(Object.entries(COMMAND_IDS).map(([name, id]) => [id, name]));
const STATUS_NAME_BY_CODE: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([name, code]) => [code, name]),
);

const DEFINITIONS: ReadonlyMap<number, TlvDefinition> = new Map(
  Object.entries(TLVS).map(([name, [tag, kind]]) => [tag, { tag, name, kind }]),
);

/** The command_id of a command of the dictionary. */
export function commandId(command: DictionaryCommand): number {
  return COMMAND_IDS[command];
}

/** The dictionary's name of a command_id; null when it has none. */
export function commandName(id: number): string | null {
  return NAME_BY_ID.get(id) ?? null;
}

/** `ESME_RTHROTTLED` for 0x58; an unknown code as `0x000004ff`. */
export function statusName(code: number): string {
  return STATUS_NAME_BY_CODE.get(code) ?? `0x${code.toString(16).padStart(8, '0')}`;
}

/** The dictionary's definition of a TLV tag; undefined for vendor tags. */
export function tlvDefinition(tag: number): TlvDefinition | undefined {
  return DEFINITIONS.get(tag);
}

/** The tag of a TLV by its name, for example 0x0424 for `message_payload`. */
export function tlvTag(name: TlvName): number {
  return TLVS[name][0];
}

/** Whether the dictionary has a response to a request; outbind and alert_notification have none. */
export function hasResponse(requestId: number): boolean {
  return NAME_BY_ID.has(requestId + RESPONSE_BIT);
}
