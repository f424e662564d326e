import { getSchemaPath } from '@nestjs/swagger';
import { BindAnswer } from '../../admin/binds/bind.view.js';
import { ERRORS } from '../../http/errors.js';
import { APPROVED_SESSION, PENDING_SESSION, SessionAnswer } from '../../verify/session.view.js';
import { RESUME_TOO_OLD } from '../../realtime/server-frame.js';
import { EVENTS, ID, object, text, type WrittenSchema } from '../openapi/event-data.js';
import type { Schema } from '../openapi/schema.js';

/** One message of the realtime channel (contract, Realtime). */
export interface FrameText {
  readonly type: string;
  /** The sender. */
  readonly from: 'client' | 'server';
  readonly summary: string;
  /** The name of its schema. */
  readonly schema: string;
  readonly example: Readonly<Record<string, unknown>>;
}

const NULL = { type: 'null' } as const;
const only = (value: string): Schema => ({ type: 'string', enum: [value] });
const reference = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });
const FRAME_ID: Schema = {
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: 64,
  description: 'Chosen by the client; the reply repeats it.',
};
const CHANNEL = text(
  `^(session:sess_${ID.slice(0, -1)}|account:acct_${ID.slice(0, -1)}|binds)$`,
  '`session:` and its id, `account:` and its id, or `binds`.',
);
const RESUME_AFTER = text(
  undefined,
  'For `account:` alone: the id of an event of this channel. Events that were dispatched after it, up to 10 minutes and 1,000 events back, are sent first. Otherwise `RESUME_TOO_OLD` is sent and the subscription starts now.',
);
const DURATION: Schema = { type: 'integer', minimum: 0 };
const SESSION = { $ref: getSchemaPath(SessionAnswer) };
const BIND = { $ref: getSchemaPath(BindAnswer) };

/** The fields of a session that a ticket shows. */
const VIEW_FIELDS = [
  'id',
  'status',
  'channel',
  'fallbackUri',
  'expiresAt',
  'createdAt',
  'approvedAt',
  'latencyMs',
  'test',
];

/** A session, as a key, a ticket or a viewer in the console sees it. */
const SHOWN = [SESSION, reference('SessionView'), reference('MaskedSession')];

const SNAPSHOT: Schema = {
  anyOf: [...SHOWN, { type: 'array', items: BIND }, NULL],
  description:
    'The current state: the Session, for a ticket its eight fields, and `test` of a test session, or for a viewer in the console the masked Session; all binds for `binds`; null for an account.',
};

/** Event types of WebSocket channels, with the schema of their data. */
export const LIVE_DATA: readonly (readonly [type: string, data: WrittenSchema])[] = [
  ...EVENTS.map(({ type, data }): [string, WrittenSchema] => [
    type,
    '$ref' in data ? { anyOf: SHOWN } : data,
  ]),
  ['verification.updated', { anyOf: SHOWN }],
  ['bind.updated', BIND],
];

/** As a viewer of an account sees it in the console. */
function maskedSession({ properties = {} }: Schema): Schema {
  const { authEntropy: _secret, ...fields } = properties;
  const phone = text('^[+*][0-9*]{6,15}$', 'With stars.');
  const masked = { phone, metadata: { type: 'object', maxProperties: 0 }, fallbackUri: NULL } as const;
  return object({ ...fields, ...masked }, ['test']);
}

/** The schemas of all messages, by name; `SessionView` has a subset of the Session's fields. */
export function frameSchemas(session: Schema): Record<string, Schema> {
  const fields = Object.entries(session.properties ?? {}).filter(([name]) => VIEW_FIELDS.includes(name));
  return {
    SessionView: object(Object.fromEntries(fields), ['test']),
    MaskedSession: maskedSession(session),
    Auth: object({
      type: only('auth'),
      id: FRAME_ID,
      ticket: text(undefined, 'Of `POST /v1/verify/{id}/realtime-ticket`.'),
    }),
    Subscribe: object({ type: only('subscribe'), id: FRAME_ID, channel: CHANNEL, resumeAfter: RESUME_AFTER }, [
      'resumeAfter',
    ]),
    Unsubscribe: object({ type: only('unsubscribe'), id: FRAME_ID, channel: CHANNEL }),
    Ping: object({ type: only('ping'), id: FRAME_ID }),
    Welcome: object({
      type: only('welcome'),
      authenticated: { type: 'boolean', description: 'False: `auth` is due within 5 seconds.' },
      heartbeatMs: { ...DURATION, description: 'Interval of the server’s protocol pings.' },
    }),
    Authenticated: object({ type: only('authenticated'), id: FRAME_ID }),
    Subscribed: object({ type: only('subscribed'), id: FRAME_ID, channel: CHANNEL, snapshot: SNAPSHOT }),
    Event: object({
      type: only('event'),
      channel: CHANNEL,
      id: text(`^evt_${ID}`, 'Equal to the `webhook-id` of the same event.'),
      event: { type: 'string', enum: LIVE_DATA.map(([type]) => type), description: 'More may be added.' },
      timestamp: { type: 'string', format: 'date-time', description: 'Time of the event.' },
      data: {
        type: 'object',
        description: 'Depends on the type, below; for a ticket at most eight fields, and `test` of a test session.',
      },
    }),
    Unsubscribed: object({ type: only('unsubscribed'), id: FRAME_ID, channel: CHANNEL }, ['id']),
    Pong: object({ type: only('pong'), id: FRAME_ID }),
    Error: object(
      {
        type: only('error'),
        id: FRAME_ID,
        error: object({
          code: {
            type: 'string',
            enum: [...Object.keys(ERRORS), RESUME_TOO_OLD],
            description: 'As in HTTP responses. More may be added.',
          },
          message: text(undefined, 'For people; it may change.'),
        }),
      },
      ['id'],
    ),
    Closing: object({
      type: only('closing'),
      reconnectAfterMs: { ...DURATION, description: 'Delay before reconnecting; different for each client.' },
    }),
  };
}

const CHANNEL_EXAMPLE = `session:${PENDING_SESSION.id}`;
const TICKET = `rtk_${'7Q2M9XK4T1V8C3ZB'.repeat(3).slice(0, 43)}`;
const client = (type: string, summary: string, schema: string, fields: object): FrameText => ({
  type,
  from: 'client',
  summary,
  schema,
  example: { type, id: '1', ...fields },
});
const server = (type: string, summary: string, schema: string, fields: object): FrameText => ({
  type,
  from: 'server',
  summary,
  schema,
  example: { type, ...fields },
});

export const FRAMES: readonly FrameText[] = [
  client('auth', 'The first message of a page, within 5 seconds', 'Auth', { ticket: TICKET }),
  client('subscribe', 'Subscribe to a channel', 'Subscribe', { channel: CHANNEL_EXAMPLE }),
  client('unsubscribe', 'Unsubscribe from a channel', 'Unsubscribe', { channel: CHANNEL_EXAMPLE }),
  client('ping', 'Check whether the server responds', 'Ping', {}),
  server('welcome', 'The first message of every connection', 'Welcome', { authenticated: false, heartbeatMs: 25_000 }),
  server('authenticated', 'The ticket is valid', 'Authenticated', { id: '1' }),
  server('subscribed', 'The current state; events follow', 'Subscribed', {
    id: '1',
    channel: CHANNEL_EXAMPLE,
    snapshot: PENDING_SESSION,
  }),
  server('event', 'Something happened', 'Event', {
    channel: CHANNEL_EXAMPLE,
    id: 'evt_01HF7YAT000000000000000009',
    event: 'verification.completed',
    timestamp: APPROVED_SESSION.approvedAt,
    data: APPROVED_SESSION,
  }),
  server('unsubscribed', 'The subscription has ended', 'Unsubscribed', { id: '1', channel: CHANNEL_EXAMPLE }),
  server('pong', 'The server responds', 'Pong', { id: '1' }),
  server('error', 'A message was refused; the third unreadable one closes the connection', 'Error', {
    id: '1',
    error: { code: 'SESSION_NOT_FOUND', message: 'There is no such session.' },
  }),
  server('closing', 'The server is about to close the connection, with the delay before reconnecting', 'Closing', {
    reconnectAfterMs: 1_834,
  }),
];
