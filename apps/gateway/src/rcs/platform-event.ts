import { createHash } from 'node:crypto';
import type { CardEventKind } from '@countersign/rcs/rules';
import { objectIn, readMembers, textIn, type Members } from './json-members.js';

/** Ids that the platform makes are about 30 characters. */
const MAX_NAME_CHARACTERS = 512;
const MAX_AGENT_CHARACTERS = 256;
/** An agent's id is stored, so it must be a text that can be. */
const AGENT = /^[\x21-\x7e]+$/;
const LAUNCH_STATE = /^[A-Z][A-Z_]*$/;
/** What we send as postback is far shorter. */
const MAX_POSTBACK_CHARACTERS = 2_048;
const MAX_TEXT_CHARACTERS = 64;
const PHONE = /^\+[1-9][0-9]{6,14}$/;
/** RFC 3339, of this millennium: not every year can be stored. The platform writes 0, 3, 6 or 9 digits of a second. */
const INSTANT = /^(2\d{3}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** One event of the platform. Nothing that a person wrote is kept. */
export interface PlatformEvent {
  readonly kind: CardEventKind;
  /** As the platform spells it. */
  readonly agentId: string;
  /** E.164, or null where the event is of no phone, or of none that is a number. */
  readonly phone: string | null;
  /** Of a message of ours; a tap has the id of the person's own message, which says nothing. */
  readonly messageId: string | null;
  /** Of the button that was tapped, and of nothing else. */
  readonly postback: string | null;
  /** Of an agent as a whole: what it is now. */
  readonly launchState: string | null;
  /** Null where it does not say when; the time is the sender's. */
  readonly occurredAt: Date | null;
  /** The same when the event comes again, and of no other event. */
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
/** Kinds that are of a message of ours. */
const OF_OUR_MESSAGE: ReadonlySet<CardEventKind> = new Set(['delivered', 'read', 'expired', 'expire_failed']);
/** What people write who want no more messages, in the countries that agree on a word. */
const STOP_WORDS: ReadonlySet<string> = new Set(['STOP', 'BAJA', 'PARAR']);

/**
 * Reads what was pushed. Null when it is no event of an agent: there is nothing that it could be about. An event of an
 * unknown shape is `other`, so that what the platform invents later is stored and harms nothing.
 */
export function readPlatformEvent(data: Buffer): PlatformEvent | null {
  const members = readMembers(data);
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

/** By what it holds: a tap has the button, a message its content, an event its type. */
function kindOf(members: Members): CardEventKind {
  if (objectIn(members, 'suggestionResponse') !== null) return 'tap';
  const type = textIn(members, 'eventType', MAX_TEXT_CHARACTERS);
  if (type !== null) return EVENT_TYPES.get(type) ?? 'other';
  if (launchStateOf(members) !== null) return 'agent';
  if (Object.hasOwn(members, 'text')) return wantsNoMore(members) ? 'unsubscribed' : 'text';
  return Object.hasOwn(members, 'location') || Object.hasOwn(members, 'userFile') ? 'text' : 'other';
}

function wantsNoMore(members: Members): boolean {
  const text = textIn(members, 'text', MAX_TEXT_CHARACTERS);
  return text !== null && STOP_WORDS.has(text.trim().toUpperCase());
}

function launchStateOf(members: Members): string | null {
  const state = textIn(members, 'newLaunchState', MAX_TEXT_CHARACTERS);
  return state !== null && LAUNCH_STATE.test(state) ? state : null;
}

/** What the platform did by itself names the phone differently. */
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
 * Events have an id of their own, messages and taps that of the message. Without either the octets name it: the platform
 * repeats them as they were.
 */
function nameOf(members: Members, data: Buffer): string {
  const id = textIn(members, 'eventId', MAX_NAME_CHARACTERS) ?? textIn(members, 'messageId', MAX_NAME_CHARACTERS) ?? '';
  return id === '' ? createHash('sha256').update(data).digest('hex') : id;
}
