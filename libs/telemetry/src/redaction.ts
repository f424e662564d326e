import { maskPhone, maskPhonesIn } from '@countersign/phone';

/** Written in place of what must not be read. */
export const REDACTED = '[redacted]';

// Bounds of what one log line takes from an object: a line is a note, not a dump.
const MAX_DEPTH = 6;
const MAX_ENTRIES = 50;
const MAX_TEXT_CHARACTERS = 4000;

/** Names whose value is a secret or a person's text, in lower case without `-` and `_`. */
const SECRET_NAMES: ReadonlySet<string> = new Set(
  [
    ['adminkey', 'apikey', 'authorization', 'cookie', 'setcookie', 'masterkey', 'entropykeys', 'password', 'passwd'],
    ['secret', 'webhooksecret', 'ticket', 'token', 'tokens', 'otp', 'otpcode', 'pepper', 'matchcode'],
    ['authentropy', 'clientchallenge', 'fallbackuri', 'metadata'],
    ['body', 'payload', 'rawbody', 'text', 'shortmessage', 'messagepayload', 'sealed'],
    ['databaseurl', 'redisurl', 'connectionstring', 'parameters', 'query', 'detail'],
  ].flat(),
);
/** Names whose value is, or may be, a phone number. */
const PHONE_NAMES: ReadonlySet<string> = new Set(
  ['phone', 'phones', 'msisdn', 'e164', 'from', 'to', 'sender', 'senders', 'recipient', 'source', 'destination'].concat(
    ['sourceaddress', 'destinationaddress', 'sourceaddr', 'destinationaddr', 'destaddr', 'value'],
  ),
);

const DASHES = '\\-\\u2010-\\u2015\\u2212\\ufe58\\ufe63\\uff0d';
const GAP = `[\\s\\u200b-\\u200d\\u2060\\ufeff]*`;
const DASH = `${GAP}[${DASHES}]${GAP}`;
/** `AUTH-<SLUG>-<token>` with every tolerance of matching; a cut token too, unless it could be a word ("auth-token-expired"). */
const TOKEN = new RegExp(`AUTH${DASH}[0-9A-Z]{2,12}${DASH}(?:[0-9A-Z]{16}|(?=[A-Z]*[0-9])[0-9A-Z]{4,})`, 'gi');
/**
 * Secrets that a text shows by their form. These are safe on a finished JSON line too: each needs a letter or a mark that
 * no bare JSON number, name or punctuation has, and none reaches over a quotation mark.
 */
const SECRET_FORMS: readonly (readonly [RegExp, string])[] = [
  [TOKEN, `AUTH-${REDACTED}`],
  [/csk_(live|test|admin)_[0-9A-Za-z]{5,}/g, `csk_$1_${REDACTED}`],
  [/whsec_[0-9A-Za-z+/_=-]+/g, `whsec_${REDACTED}`],
  [/rtk_[0-9A-Za-z_-]+/g, `rtk_${REDACTED}`],
  [/\bbearer [^\s"\\]+/gi, `Bearer ${REDACTED}`],
  [/:\/\/[^\s"\\@/]*:[^\s"\\@]*@/g, `://${REDACTED}@`],
  [/\bsms:[^\s"\\]+/gi, `sms:${REDACTED}`],
  [/(?<![0-9A-Za-z])[0-9a-f]{64}(?![0-9A-Za-z])/gi, REDACTED],
  [/(?<![0-9A-Za-z+/])[0-9A-Za-z+/]{43}=/g, REDACTED],
  [/\b[0-9]{6} (is your )/gi, `${REDACTED} $1`],
  [/(@[\w.-]+ #)[0-9]{6}\b/g, `$1${REDACTED}`],
];
/** Sixteen characters of the token's alphabet on their own: a token that lost its prefix. */
const BARE_TOKEN = /(?<![0-9A-Za-z_])[0-9A-HJKMNP-TV-Z]{16}(?![0-9A-Za-z_])/g;
/** Names that end like this hold a secret, whatever stands before: `bindPassword`, `webhookSecret`. */
const SECRET_ENDING = /(?:password|passphrase|secret|token|apikey|privatekey)$/;
const ONE_TIME_CODE = /^[0-9]{6}$/;

/** A text without the secrets that are known by their form. Phone numbers stay; meant for finished log lines. */
export function redactSecrets(text: string): string {
  return SECRET_FORMS.reduce((redacted, [form, replacement]) => redacted.replace(form, replacement), text);
}

/** A text fit for a log: no secret known by its form, phone numbers masked, cut at 4,000 characters. */
export function redactText(text: string): string {
  const cut = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
  return maskPhonesIn(redactSecrets(cut).replace(BARE_TOKEN, REDACTED));
}

/**
 * A value fit for a log: secrets by name and by form are gone, phone numbers masked, errors described, octets counted,
 * objects of classes named. Never throws, never calls a method of the value, bounded in depth and breadth.
 */
export function redactValue(value: unknown, name = '', depth = 0): unknown {
  try {
    return redact(value, name.toLowerCase().replace(/[-_]/g, ''), depth);
  } catch {
    return '[unreadable]';
  }
}

function redact(value: unknown, name: string, depth: number): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (SECRET_NAMES.has(name) || SECRET_ENDING.test(name)) return REDACTED;
  switch (typeof value) {
    case 'string':
      return redactString(value, name);
    case 'number':
      return redactNumber(value, name);
    case 'bigint':
      return redactString(value.toString(), name);
    case 'object':
      return depth >= MAX_DEPTH ? '[deep]' : redactObject(value, name, depth);
    default:
      return `[${typeof value}]`;
  }
}

function redactString(value: string, name: string): string {
  if (name === 'code' && ONE_TIME_CODE.test(value)) return REDACTED;
  if (PHONE_NAMES.has(name) && /^\+?[0-9]{5,}$/.test(value)) return maskPhone(value);
  return redactText(value);
}

function redactNumber(value: number, name: string): number | string {
  const text = String(value);
  if (name === 'code' && ONE_TIME_CODE.test(text)) return REDACTED;
  return PHONE_NAMES.has(name) && /^[0-9]{7,}$/.test(text) ? maskPhone(text) : value;
}

function redactObject(value: object, name: string, depth: number): unknown {
  if (value instanceof Error) return describeError(value, depth);
  if (value instanceof Date) return value;
  if (value instanceof Uint8Array) return `[${value.length} octets]`;
  if (value instanceof URL) return redactText(value.href);
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => redactValue(entry, name, depth + 1));
  if (value instanceof Set) return redactObject([...value].slice(0, MAX_ENTRIES), name, depth);
  if (value instanceof Map)
    return redactEntries(
      [...value].map(([key, entry]) => [String(key), entry]),
      depth,
    );
  if (name === 'req' || name === 'request') return pick(value, ['id', 'method', 'url'], depth);
  if (name === 'res' || name === 'reply') return pick(value, ['statusCode'], depth);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return redactEntries(Object.entries(value), depth);
  return `[${value.constructor.name}]`;
}

function redactEntries(entries: readonly (readonly [string, unknown])[], depth: number): Record<string, unknown> {
  const kept = entries.slice(0, MAX_ENTRIES);
  return Object.fromEntries(kept.map(([key, entry]) => [redactText(key), redactValue(entry, key, depth + 1)]));
}

function pick(value: object, names: readonly string[], depth: number): Record<string, unknown> {
  return redactEntries(
    names.map((name) => [name, Reflect.get(value, name)]),
    depth,
  );
}

/** What stays of a database's or system's error beside its message: no statement, parameter or row. */
const ERROR_FIELDS = ['code', 'status', 'statusCode', 'syscall', 'severity', 'table', 'constraint'] as const;

function describeError(error: Error, depth: number): Record<string, unknown> {
  const { cause } = error;
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...pick(error, ERROR_FIELDS, depth),
    ...(cause === undefined ? {} : { cause: redactValue(cause, 'cause', depth + 1) }),
    ...(error instanceof AggregateError ? { errors: redactValue(error.errors, 'errors', depth + 1) } : {}),
  };
}
