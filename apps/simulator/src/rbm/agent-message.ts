import { invalid } from '../http/rpc-refusal.js';

/** A button or chip of a message. */
export interface Suggestion {
  readonly kind: 'reply' | 'action';
  readonly text: string;
  readonly postbackData: string;
}

export interface RichCard {
  readonly title: string | null;
  readonly description: string | null;
  /** The URL of its image. */
  readonly fileUrl: string | null;
  /** The cardContent as received. */
  readonly content: Fields;
}

/** A message of an agent within the limits of the service (RBM reference, AgentMessage). */
export interface AgentMessage {
  /** Null on a text and on a file. */
  readonly card: RichCard | null;
  readonly text: string | null;
  /** Of the card, else of the message. */
  readonly suggestions: readonly Suggestion[];
  readonly trafficType: string | null;
  readonly expiresAtMs: number | null;
  /** As received, without `ttl`, which is never returned. */
  readonly echo: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

const LONGEST_MESSAGE_BYTES = 250 * 1024;
const LONGEST = { text: 3072, title: 200, description: 2000, label: 25, postback: 2048, url: 2048 } as const;
const MOST_CARD_SUGGESTIONS = 4;
const MOST_CHIPS = 11;
const LONGEST_LIFE_MS = 15 * 86_400_000;
const TTL = /^[0-9]{1,9}(?:\.[0-9]{1,9})?s$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
const TRAFFIC_TYPES = [
  'MESSAGE_TRAFFIC_TYPE_UNSPECIFIED',
  'AUTHENTICATION',
  'TRANSACTION',
  'PROMOTION',
  'SERVICEREQUEST',
  'ACKNOWLEDGEMENT',
];
const CONTENTS = ['text', 'richCard', 'contentInfo', 'uploadedRbmFile', 'fileName'];
const ACTIONS = [
  'openUrlAction',
  'dialAction',
  'viewLocationAction',
  'createCalendarEventAction',
  'shareLocationAction',
  'composeAction',
];

/** Parses the body of a send. Throws the RpcRefusal that names the first error. */
export function readAgentMessage(body: unknown, nowMs: number): AgentMessage {
  const fields = fieldsOf(body, 'agent_message', [
    'contentMessage',
    'messageTrafficType',
    'expireTime',
    'ttl',
    'name',
    'sendTime',
    'richMessageClassification',
  ]);
  if (Buffer.byteLength(JSON.stringify(fields)) > LONGEST_MESSAGE_BYTES) throw invalid('The message is above 250 KB.');
  const content = fieldsOf(fields['contentMessage'], 'content_message', [...CONTENTS, 'suggestions']);
  const present = CONTENTS.filter((name) => content[name] !== undefined);
  if (present.length !== 1) throw invalid('content_message must have exactly one content.');
  const card = content['richCard'] === undefined ? null : cardOf(content['richCard']);
  const chips = suggestionsOf(content['suggestions'], 'content_message.suggestions', MOST_CHIPS);
  const { ttl: _, ...echo } = fields;
  return {
    card,
    text: textOf(content, 'text', LONGEST.text),
    suggestions: [
      ...suggestionsOf(card?.content['suggestions'], 'card_content.suggestions', MOST_CARD_SUGGESTIONS),
      ...chips,
    ],
    trafficType: oneOf(fields, 'messageTrafficType', TRAFFIC_TYPES),
    expiresAtMs: expiryOf(fields, nowMs),
    echo,
  };
}

function cardOf(value: unknown): RichCard {
  const rich = fieldsOf(value, 'rich_card', ['standaloneCard']);
  const standalone = fieldsOf(rich['standaloneCard'], 'standalone_card', [
    'cardOrientation',
    'thumbnailImageAlignment',
    'cardContent',
  ]);
  const orientation = oneOf(standalone, 'cardOrientation', ['VERTICAL', 'HORIZONTAL']);
  if (orientation === null) throw invalid('card_orientation is required.');
  const alignment = oneOf(standalone, 'thumbnailImageAlignment', ['LEFT', 'RIGHT']);
  if ((alignment !== null) !== (orientation === 'HORIZONTAL'))
    throw invalid('thumbnail_image_alignment goes with HORIZONTAL cards.');
  const content = fieldsOf(standalone['cardContent'], 'card_content', ['title', 'description', 'media', 'suggestions']);
  const title = textOf(content, 'title', LONGEST.title);
  const description = textOf(content, 'description', LONGEST.description);
  const fileUrl = content['media'] === undefined ? null : pictureUrl(content['media']);
  if (title === null && description === null && fileUrl === null)
    throw invalid('card_content must have a title, a description or media.');
  return { title, description, fileUrl, content };
}

/** The service fetches images itself: over https, without user information in the URL. */
function pictureUrl(value: unknown): string {
  const media = fieldsOf(value, 'media', ['height', 'contentInfo']);
  if (oneOf(media, 'height', ['SHORT', 'MEDIUM', 'TALL']) === null) throw invalid('media.height is required.');
  const info = fieldsOf(media['contentInfo'], 'content_info', ['fileUrl', 'thumbnailUrl', 'forceRefresh', 'altText']);
  const url = textOf(info, 'fileUrl', LONGEST.url);
  if (url === null || !isPublicUrl(url)) throw invalid('file_url must be a publicly reachable https URL.');
  return url;
}

function isPublicUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return protocol === 'https:' && username === '' && password === '';
}

function suggestionsOf(value: unknown, where: string, most: number): Suggestion[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > most) throw invalid(`${where} must be a list of at most ${most}.`);
  return value.map((entry: unknown) => suggestionOf(entry, where));
}

function suggestionOf(value: unknown, where: string): Suggestion {
  const { reply, action } = fieldsOf(value, where, ['reply', 'action']);
  if ((reply === undefined) === (action === undefined)) throw invalid(`${where} must be replies or actions.`);
  const kind = reply === undefined ? 'action' : 'reply';
  const allowed = ['text', 'postbackData', ...(kind === 'action' ? ['fallbackUrl', ...ACTIONS] : [])];
  const fields = fieldsOf(reply ?? action, `${where}.${kind}`, allowed);
  const text = textOf(fields, 'text', LONGEST.label);
  if (text === null || text === '') throw invalid(`${where}.${kind}.text is required.`);
  if (kind === 'action' && ACTIONS.filter((name) => fields[name] !== undefined).length !== 1)
    throw invalid(`${where}.action must have exactly one action.`);
  const postbackData = textOf(fields, 'postbackData', LONGEST.postback);
  if (kind === 'reply' && postbackData === null) throw invalid(`${where}.reply.postback_data is required.`);
  return { kind, text, postbackData: postbackData ?? '' };
}

function expiryOf(fields: Fields, nowMs: number): number | null {
  const ttl = textOf(fields, 'ttl', LONGEST.label);
  const expireTime = textOf(fields, 'expireTime', LONGEST.title);
  if (ttl !== null && expireTime !== null) throw invalid('ttl and expire_time exclude each other.');
  if (ttl === null && expireTime === null) return null;
  if (ttl !== null && !TTL.test(ttl)) throw invalid('ttl must be a duration like "90s".');
  if (expireTime !== null && !INSTANT.test(expireTime)) throw invalid('expire_time must be an RFC 3339 time.');
  const atMs = expireTime === null ? nowMs + 1000 * Number.parseFloat(ttl ?? '0') : Date.parse(expireTime);
  if (!(atMs > nowMs)) throw invalid('expire_time must be in the future.');
  if (atMs > nowMs + LONGEST_LIFE_MS) throw invalid('expire_time must be within 15 days.');
  return atMs;
}

/** An object with only the fields of its type. */
function fieldsOf(value: unknown, where: string, known: readonly string[]): Fields {
  if (!isFields(value)) throw invalid(`${where} must be an object.`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(`Unknown name ${JSON.stringify(unknown.slice(0, LONGEST.label))} at '${where}': Cannot find field.`);
  return value;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(fields: Fields, name: string, longest: number): string | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value !== 'string') throw invalid(`${name} must be a string.`);
  if (value.length > longest && Array.from(value).length > longest)
    throw invalid(`${name} is above ${longest} characters.`);
  return value;
}

function oneOf(fields: Fields, name: string, values: readonly string[]): string | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || !values.includes(value)) throw invalid(`${name} must be one of ${values.join()}.`);
  return value;
}
