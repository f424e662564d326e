import type { OpenAPIObject } from '@nestjs/swagger';
import { SESSION_COOKIE } from '../../http/console-requests.js';
import { CLOSE_REASONS } from '../../realtime/close-codes.js';
import { CONSOLE_REALTIME_PATH, REALTIME_PATH } from '../../realtime/handshake.js';
import { APPROVED_SESSION, PENDING_SESSION } from '../../verify/session.view.js';
import {
  EVENTS,
  type EventText,
  nameOf,
  object,
  postedBody,
  WEBHOOK_HEADERS,
  type WrittenSchema,
} from '../openapi/event-data.js';
import { Schemas } from '../openapi/schema.js';
import { FRAMES, type FrameText, frameSchemas, LIVE_DATA } from './frames.js';

type Json = Readonly<Record<string, unknown>>;

/** One message of the document. */
export interface AsyncMessage {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly contentType: 'application/json';
  readonly payload: Json;
  readonly headers?: Json;
  readonly examples: readonly [{ readonly payload: Json }];
}

/** An AsyncAPI 3 document, limited to the parts that our pages and tests read. */
export interface AsyncDocument {
  readonly asyncapi: '3.0.0';
  readonly info: Json;
  readonly defaultContentType: 'application/json';
  readonly servers: Json;
  readonly channels: Json;
  readonly operations: Json;
  readonly components: {
    readonly securitySchemes: Json;
    readonly messages: Readonly<Record<string, AsyncMessage>>;
    readonly schemas: Json;
  };
}

const INFO = `Events and messages of Countersign: over a WebSocket while a page or a server is subscribed, and by webhooks. Calls
are described by OpenAPI, at /v1/openapi.json.

Frames, fields and event types may be added: ignore unknown ones.`;

const CLOSE_TABLE = Object.entries(CLOSE_REASONS)
  .map(([code, reason]) => `${code}: ${reason}`)
  .join('; ');

const CHANNEL = `JSON text frames of at most 16 KiB, subprotocol \`countersign.v1\`. A server sends its key with the upgrade,
a page sends a ticket as its first message; neither is ever read from the URL. At most 100 channels and 20 messages a second.
The server closes a connection with one of these codes. ${CLOSE_TABLE}.`;

const CONSOLE_CHANNEL = `The same frames, for pages of the console: the cookie of its session authorizes the upgrade, which
needs the Origin of this service, and no \`auth\` follows. Members of the installation subscribe to \`binds\`, members of an
account to its channel and sessions, of the mode in the address; sessions are as in listings, and masked for viewers.
The end of the session, and a change of role, closes the connection with 4401 within 5 s.`;

const WEBHOOKS = `Standard Webhooks 1.0, symmetric: the signature is over \`webhook-id\`, \`webhook-timestamp\` and the body, with
dots between. At least once, in no particular order.`;

/**
 * The AsyncAPI document of this server. Session and bind schemas come from the OpenAPI document; the rest is
 * handwritten.
 */
export function describeEvents(openapi: OpenAPIObject, publicBaseUrl: string): AsyncDocument {
  const { host, protocol } = new URL(publicBaseUrl);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Countersign',
      version: '1',
      description: INFO,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      externalDocs: { url: `${publicBaseUrl}/docs/realtime`, description: 'A guide, with code' },
    },
    defaultContentType: 'application/json',
    servers: {
      countersign: { host, protocol: protocol === 'http:' ? 'ws' : 'wss', description: 'This service.' },
      receiver: { host: '{receiver}', protocol: 'https', description: 'Yours.', variables: RECEIVER },
    },
    channels: { realtime: REALTIME, consoleRealtime: CONSOLE_REALTIME, webhook: WEBHOOK },
    operations: OPERATIONS,
    components: { securitySchemes: SECURITY, messages: MESSAGES, schemas: withExamples(eventSchemas(openapi)) },
  };
}

const RECEIVER = { receiver: { description: 'The host of your webhook URL.', default: 'example.com' } };
const SECURITY = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key with the scope realtime, sent with the upgrade. Whole sessions also need the scope verify; without it the Session has the fields that a ticket shows.',
  },
  session: {
    type: 'httpApiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'Of a session of the console, which a browser sends with the upgrade.',
  },
  ticket: { type: 'apiKey', in: 'password', description: 'From POST /v1/verify/{id}/realtime-ticket, sent in auth.' },
  signature: { type: 'symmetricEncryption', description: 'HMAC-SHA256 with the account’s secret, whsec_….' },
};

const POSTED = EVENTS.filter(({ isPosted }) => isPosted);
const messageOf = (name: string): { $ref: string } => ({ $ref: `#/components/messages/${name}` });
const webhookName = ({ type }: EventText): string => `posted${nameOf(type)}`;
const listed = (names: readonly string[]): Json => Object.fromEntries(names.map((name) => [name, messageOf(name)]));

const PROTOCOL = { 'Sec-WebSocket-Protocol': { type: 'string', enum: ['countersign.v1'] } } as const;
const webSocket = (more: Json): Json => ({ ws: { method: 'GET', ...more, bindingVersion: '0.1.0' } });
/** The frames of a connection that was authenticated at the upgrade. */
const CONSOLE_FRAMES = FRAMES.filter(({ type }) => type !== 'auth' && type !== 'authenticated');

const REALTIME = {
  address: REALTIME_PATH,
  title: 'Realtime',
  description: CHANNEL,
  servers: [{ $ref: '#/servers/countersign' }],
  messages: listed(FRAMES.map(({ type }) => type)),
  bindings: webSocket({ headers: object(PROTOCOL) }),
};
const CONSOLE_REALTIME = {
  address: CONSOLE_REALTIME_PATH,
  title: 'Realtime of the console',
  description: CONSOLE_CHANNEL,
  servers: [{ $ref: '#/servers/countersign' }],
  messages: listed(CONSOLE_FRAMES.map(({ type }) => type)),
  bindings: webSocket({
    headers: object({ ...PROTOCOL, Origin: { type: 'string', description: 'That of this service.' } }),
    query: object({ mode: { type: 'string', enum: ['live', 'test'], default: 'live' } }, ['mode']),
  }),
};
const WEBHOOK = {
  title: 'Webhooks',
  description: WEBHOOKS,
  servers: [{ $ref: '#/servers/receiver' }],
  messages: listed(POSTED.map(webhookName)),
};

type FrameChannel = 'realtime' | 'consoleRealtime';

const scheme = (name: string): { $ref: string } => ({ $ref: `#/components/securitySchemes/${name}` });
const LISTENERS = { realtime: [scheme('key'), scheme('ticket')], consoleRealtime: [scheme('session')] } as const;
/** The reply to each message of the client. */
const REPLIES: Readonly<Record<string, string>> = {
  auth: 'authenticated',
  subscribe: 'subscribed',
  unsubscribe: 'unsubscribed',
  ping: 'pong',
};
const ofChannel = (channel: string, name: string): { $ref: string } => ({
  $ref: `#/channels/${channel}/messages/${name}`,
});

/** Operations are described from the server's side: it receives the client's messages. */
function frameOperation(name: FrameChannel, { type, from, summary }: FrameText): [string, Json] {
  const channel = { $ref: `#/channels/${name}` };
  const reply = REPLIES[type];
  const operation = {
    action: from === 'client' ? 'receive' : 'send',
    channel,
    summary,
    security: LISTENERS[name],
    messages: [ofChannel(name, type)],
    ...(from === 'client' && reply !== undefined
      ? { reply: { channel, messages: [ofChannel(name, reply), ofChannel(name, 'error')] } }
      : {}),
  };
  return [`${operation.action}${nameOf(type)}${name === 'realtime' ? '' : 'OfConsole'}`, operation];
}

const OPERATIONS = Object.fromEntries([
  ...FRAMES.map((frame) => frameOperation('realtime', frame)),
  ...CONSOLE_FRAMES.map((frame) => frameOperation('consoleRealtime', frame)),
  ...POSTED.map((event): [string, Json] => [
    `post${nameOf(event.type)}`,
    {
      action: 'send',
      channel: { $ref: '#/channels/webhook' },
      summary: event.summary,
      security: [{ $ref: '#/components/securitySchemes/signature' }],
      messages: [ofChannel('webhook', webhookName(event))],
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
  ]),
]);

/** The data of an event depends on its type. */
const EVENT_PAYLOAD: Json = {
  allOf: [
    { $ref: '#/components/schemas/Event' },
    ...LIVE_DATA.map(([type, data]) => ({
      if: { properties: { event: { const: type } } },
      then: { properties: { data } },
    })),
  ],
};

function frameMessage({ type, summary, schema, example }: FrameText): AsyncMessage {
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/json',
    payload: type === 'event' ? EVENT_PAYLOAD : { $ref: `#/components/schemas/${schema}` },
    examples: [{ payload: example }],
  };
}

function webhookMessage(event: EventText): AsyncMessage {
  const { type, summary, data, example } = event;
  const isSession = '$ref' in data;
  const session = example['status'] === 'approved' ? APPROVED_SESSION : PENDING_SESSION;
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/json',
    headers: { ...object(WEBHOOK_HEADERS) },
    payload: { ...postedBody(event) },
    examples: [
      {
        payload: {
          type,
          timestamp: APPROVED_SESSION.approvedAt,
          data: isSession ? { ...session, ...example } : example,
        },
      },
    ],
  };
}

const MESSAGES: Readonly<Record<string, AsyncMessage>> = Object.fromEntries([
  ...FRAMES.map((frame): [string, AsyncMessage] => [frame.type, frameMessage(frame)]),
  ...POSTED.map((event): [string, AsyncMessage] => [webhookName(event), webhookMessage(event)]),
]);

/** The schemas of the messages, and the referenced schemas of the OpenAPI document. */
export function eventSchemas(openapi: OpenAPIObject): Record<string, WrittenSchema> {
  const theirs = openapi.components?.schemas ?? {};
  const session = new Schemas(openapi).resolve({ $ref: '#/components/schemas/SessionAnswer' });
  const all: Record<string, WrittenSchema> = { ...frameSchemas(session) };
  const open = referencesIn([MESSAGES, all]);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const schema = theirs[name];
    if (name in all || schema === undefined) continue;
    all[name] = schema;
    open.push(...referencesIn(schema));
  }
  return all;
}

const referencesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);

/** Replaces OpenAPI's `example` of a schema by AsyncAPI's list of `examples`. */
function withExamples(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, exampled(schema, true)]));
}

/** `isSchema`: whether the keys are keywords of a schema; false for the names of its properties. */
function exampled(value: unknown, isSchema: boolean): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => exampled(item, isSchema));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]): [string, unknown] => {
    if (isSchema && name === 'example') return ['examples', [inner]];
    return [name, exampled(inner, !isSchema || name !== 'properties')];
  });
  return Object.fromEntries(entries);
}
