import smpp from 'smpp';
import type { CommandName as DictionaryCommand, Statuses, TlvName } from 'smpp';

export type { DictionaryCommand, TlvName };

/** Status codes by name (SMPP 3.4 section 5.1.3, 5.0 section 4.7.6), for example `STATUS.ESME_RTHROTTLED`. */
export const STATUS: Statuses = smpp.errors;
export type StatusName = keyof Statuses;

/** The bit of command_id that marks a response. */
export const RESPONSE_BIT = 0x8000_0000;

export type TlvKind = 'int8' | 'int16' | 'int32' | 'cstring' | 'string' | 'buffer';
export interface TlvDefinition {
  readonly tag: number;
  readonly name: string;
  readonly kind: TlvKind;
}

const commandEntries = Object.values(smpp.commands).map(({ id, command }) => [id, command] as const);
const NAME_BY_ID: ReadonlyMap<number, string> = new Map(commandEntries);
const STATUS_NAME_BY_CODE: ReadonlyMap<number, string> = new Map(
  Object.entries(smpp.errors).map(([name, code]: [string, number]) => [code, name]),
);

const TLV_KINDS = ['int8', 'int16', 'int32', 'cstring', 'string', 'buffer'] as const satisfies readonly TlvKind[];
const kindOf = (type: unknown): TlvKind => TLV_KINDS.find((kind) => smpp.types.tlv[kind] === type) ?? 'buffer';

const DEFINITIONS: ReadonlyMap<number, TlvDefinition> = new Map(
  Object.values(smpp.tlvs).map(({ id, tag, type }) => [id, { tag: id, name: tag, kind: kindOf(type) }]),
);

/** The command_id of a command of the dictionary. */
export function commandId(command: DictionaryCommand): number {
  return smpp.commands[command].id;
}

/** The dictionary's name of a command_id; null when it has none. */
export function commandName(id: number): string | null {
  return NAME_BY_ID.get(id) ?? null;
}

/** `ESME_RTHROTTLED` for 0x58; a code the dictionary does not know as `0x000004ff`. */
export function statusName(code: number): string {
  return STATUS_NAME_BY_CODE.get(code) ?? `0x${code.toString(16).padStart(8, '0')}`;
}

/** What the dictionary knows of a TLV tag; undefined for vendor tags. */
export function tlvDefinition(tag: number): TlvDefinition | undefined {
  return DEFINITIONS.get(tag);
}

/** The tag of a TLV by its name, for example 0x0424 for `message_payload`. */
export function tlvTag(name: TlvName): number {
  return smpp.tlvs[name].id;
}

/** Whether the dictionary has a response to a request; outbind and alert_notification have none. */
export function hasResponse(requestId: number): boolean {
  return NAME_BY_ID.has(requestId + RESPONSE_BIT);
}
