import { createHash } from 'node:crypto';
import type { CardEventKind } from '@countersign/rcs/rules';
import { objectIn, parseMembers, textIn, type Members } from '../json/json-members.js';

/** The platform's ids have about 30 characters. */
const MAX_NAME_CHARACTERS = 512;
const MAX_AGENT_CHARACTERS = 256;
/** Agent ids are stored, so they are limited to printable ASCII. */
const AGENT = /^[\x21-\x7e]+$/;
const LAUNCH_STATE = /^[A-Z][A-Z_]*$/;
/** Our own postbacks are far shorter. */
const MAX_POSTBACK_CHARACTERS = 2_048;
const MAX_TEXT_CHARACTERS = 64;
const PHONE = /^\+[1-9][0-9]{6,14}$/;
/** RFC 3339, years 2000 to 2999: not every year can be stored. The platform writes 0, 3, 6 or 9 digits of a second. */
const INSTANT = /^(2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** An event of the platform. Text that a person wrote is dropped. */
export interface PlatformEvent {
  readonly kind: CardEventKind;
  /** In the platform's form, with or without its suffix. */
  readonly agentId: string;
  /** E.164; null when the event has no valid phone number. */
  readonly phone: string | null;
  /** The id of one of our messages; null for a tap, whose id is that of the person's own message. */
  readonly messageId: string | null;
  /** The postback of the tapped button; null for other events. */
  readonly postback: string | null;
  /** The new launch state, for agent events. */
  readonly launchState: string | null;
  /** By the platform's clock; null when the event has no valid time. */
  readonly occurredAt: Date | null;
  /** Unique per event; a repeated event has the same name. */
  readonly name: string;
}

const EVENT_TYPES: ReadonlyMap<string, CardEventKind> = new Map([
  ['DELIVERED', 'delivered'],
  ['READ', 'read'],
  ['IS_TYPING', 'typing'],
  ['SUBSCRIBE', 'subscribed'],
  ['UNSUBSCRIBE', 'unsubscribed'],
  ['TTL_EXPIRATION_REVOKED', 'expired'],
  ['TTL_EXPIRATION_REVOKE_FAILED', 'expire_failed'],
]);
/** Kinds that refer to one of our messages. */
const OF_OUR_MESSAGE: ReadonlySet<CardEventKind> = new Set(['delivered', 'read', 'expired', 'expire_failed']);
/** Texts by which people unsubscribe. */
const STOP_WORDS: ReadonlySet<string> = new Set(['STOP', 'BAJA', 'PARAR']);

/**
 * Parses a pushed event. Null when it has no valid agent id. An event of unknown shape has the kind `other`, so that future
 * kinds of events are stored and ignored.
 */
export function parsePlatformEvent(data: Buffer): PlatformEvent | null {
  const members = parseMembers(data);
  if (members === null) return null;
  const agentId = textIn(members, 'agentId', MAX_AGENT_CHARACTERS);
  if (agentId === null || !AGENT.test(agentId)) return null;
  const kind = kindOf(members);
  const tapped = objectIn(members, 'suggestionResponse');
  return {
    kind,
    agentId,
    phone: phoneOf(members),
    messageId: OF_OUR_MESSAGE.has(kind) ? textIn(members, 'messageId', MAX_NAME_CHARACTERS) : null,
    postback: kind === 'tap' && tapped !== null ? textIn(tapped, 'postbackData', MAX_POSTBACK_CHARACTERS) : null,
    launchState: kind === 'agent' ? launchStateOf(members) : null,
    occurredAt: instantOf(members),
    name: `${kind} ${agentId} ${nameOf(members, data)}`,
  };
}

/** The kind follows from the members: a tap has its suggestion, a message its content, an event its type. */
function kindOf(members: Members): CardEventKind {
  if (objectIn(members, 'suggestionResponse') !== null) return 'tap';
  const type = textIn(members, 'eventType', MAX_TEXT_CHARACTERS);
  if (type !== null) return EVENT_TYPES.get(type) ?? 'other';
  if (launchStateOf(members) !== null) return 'agent';
  if (Object.hasOwn(members, 'text')) return isUnsubscribeText(members) ? 'unsubscribed' : 'text';
  return Object.hasOwn(members, 'location') || Object.hasOwn(members, 'userFile') ? 'text' : 'other';
}

function isUnsubscribeText(members: Members): boolean {
  const text = textIn(members, 'text', MAX_TEXT_CHARACTERS);
  return text !== null && STOP_WORDS.has(text.trim().toUpperCase());
}

function launchStateOf(members: Members): string | null {
  const state = textIn(members, 'newLaunchState', MAX_TEXT_CHARACTERS);
  return state !== null && LAUNCH_STATE.test(state) ? state : null;
}

/** Events that the platform causes itself have the phone in another member. */
function phoneOf(members: Members): string | null {
  const phone = textIn(members, 'senderPhoneNumber', 20) ?? textIn(members, 'phoneNumber', 20);
  return phone !== null && PHONE.test(phone) ? phone : null;
}

function instantOf(members: Members): Date | null {
  const [, seconds, fraction = '', zone] = INSTANT.exec(textIn(members, 'sendTime', MAX_TEXT_CHARACTERS) ?? '') ?? [];
  if (seconds === undefined || zone === undefined) return null;
  const instant = new Date(`${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}

/**
 * Events have an event id, messages and taps a message id. Without either the name is the digest of the octets, which the
 * platform repeats unchanged.
 */
function nameOf(members: Members, data: Buffer): string {
  const id = textIn(members, 'eventId', MAX_NAME_CHARACTERS) ?? textIn(members, 'messageId', MAX_NAME_CHARACTERS) ?? '';
  return id === '' ? createHash('sha256').update(data).digest('hex') : id;
}
