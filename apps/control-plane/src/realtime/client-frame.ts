import { hasMoreValues } from '@countersign/http';
import { type Channel, parseChannel } from './channel.js';

/** The client's id of a message; responses repeat it unchanged. */
export type FrameId = string | number;

/** Messages of clients (contract, Realtime). */
export type ClientFrame =
  | { readonly type: 'auth'; readonly id: FrameId; readonly ticket: string }
  | {
      readonly type: 'subscribe';
      readonly id: FrameId;
      readonly channel: Channel;
      /** `evt_…` of an earlier event of an account's channel; not checked yet. */
      readonly resumeAfter?: string;
    }
  | { readonly type: 'unsubscribe'; readonly id: FrameId; readonly channel: Channel }
  | { readonly type: 'ping'; readonly id: FrameId };

export type ClientFrameType = ClientFrame['type'];

/** An unreadable frame. `id` is the client's, if it could be read. */
export interface BadFrame {
  readonly type: 'bad';
  readonly id: FrameId | null;
  readonly code: 'MALFORMED_REQUEST' | 'VALIDATION_ERROR';
  /**
   * Whether the message itself is broken. A message with an unknown channel name is not: a person may have typed the
   * name.
   */
  readonly broken: boolean;
  /** Never quotes the client's message: it may contain a ticket in the wrong field. */
  readonly message: string;
}

export const MAX_ID_CHARACTERS = 64;
/** Longer than any ticket or channel; longer texts are refused unread. */
const MAX_TEXT_CHARACTERS = 256;
/** Members and values of a frame, each counted once or twice; ours have four members at most. */
const MAX_VALUES = 64;

/** Parses one text frame. Never throws; unknown members are ignored, for newer clients. */
export function parseClientFrame(text: string): ClientFrame | BadFrame {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad(null, 'MALFORMED_REQUEST', 'A message is a JSON object.');
  }
  const id = idOf(member(value, 'id'));
  const type = member(value, 'type');
  if (!isType(type)) return bad(id, 'MALFORMED_REQUEST', 'There is no message of this type.');
  if (id === null) {
    return bad(null, 'VALIDATION_ERROR', `id must be a whole number or 1 to ${MAX_ID_CHARACTERS} characters.`);
  }
  return READERS[type](value, id);
}

/** Binary frames are not part of the protocol. */
export const BINARY_FRAME: BadFrame = bad(null, 'MALFORMED_REQUEST', 'A message is a text frame.');

const READERS: Readonly<Record<ClientFrameType, (value: object, id: FrameId) => ClientFrame | BadFrame>> = {
  auth: (value, id) => {
    const ticket = textOf(member(value, 'ticket'));
    return ticket === null ? bad(id, 'VALIDATION_ERROR', 'ticket must be a text.') : { type: 'auth', id, ticket };
  },
  subscribe: (value, id) => {
    const channel = channelOf(value, id);
    if ('type' in channel) return channel;
    const given = member(value, 'resumeAfter');
    if (given === undefined) return { type: 'subscribe', id, channel };
    const resumeAfter = textOf(given);
    if (resumeAfter === null) return bad(id, 'VALIDATION_ERROR', 'resumeAfter must be the id of an event.');
    return { type: 'subscribe', id, channel, resumeAfter };
  },
  unsubscribe: (value, id) => {
    const channel = channelOf(value, id);
    return 'type' in channel ? channel : { type: 'unsubscribe', id, channel };
  },
  ping: (_value, id) => ({ type: 'ping', id }),
};

function channelOf(value: object, id: FrameId): Channel | BadFrame {
  const text = textOf(member(value, 'channel'));
  const channel = text === null ? null : parseChannel(text);
  if (channel !== null) return channel;
  const message = 'channel must be session:sess_…, account:acct_… or binds.';
  return { ...bad(id, 'VALIDATION_ERROR', message), broken: text === null };
}

const isType = (value: unknown): value is ClientFrameType => typeof value === 'string' && Object.hasOwn(READERS, value);

function member(value: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_TEXT_CHARACTERS ? value : null;
}

function idOf(value: unknown): FrameId | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null;
  return typeof value === 'string' && value.length >= 1 && value.length <= MAX_ID_CHARACTERS ? value : null;
}

function parsed(text: string): unknown {
  // Its sender may not be known yet.
  if (hasMoreValues(Buffer.from(text), MAX_VALUES)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bad(id: FrameId | null, code: BadFrame['code'], message: string): BadFrame {
  return { type: 'bad', id, code, broken: true, message };
}
