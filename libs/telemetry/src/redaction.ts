import { maskPhone, maskPhonesIn } from '@countersign/phone';

/** Replacement for redacted text. */
export const REDACTED = '[redacted]';

// Limits on what one log line includes of an object.
const MAX_DEPTH = 6;
const MAX_ENTRIES = 50;
const MAX_TEXT_CHARACTERS = 4000;

/** Names of secrets or of personal texts, in lower case without `-` and `_`. */
const SECRET_NAMES: ReadonlySet<string> = new Set(
  [
    ['adminkey', 'apikey', 'authorization', 'cookie', 'setcookie', 'masterkey', 'entropykeys', 'password', 'passwd'],
    ['secret', 'webhooksecret', 'ticket', 'token', 'tokens', 'otp', 'otpcode', 'pepper', 'matchcode'],
    ['authentropy', 'clientchallenge', 'fallbackuri', 'metadata'],
    ['body', 'payload', 'rawbody', 'text', 'shortmessage', 'messagepayload', 'sealed'],
    ['databaseurl', 'redisurl', 'connectionstring', 'parameters', 'query', 'detail'],
  ].flat(),
);
/** Names of values that are, or may be, phone numbers. */
const PHONE_NAMES: ReadonlySet<string> = new Set(
  ['phone', 'phones', 'msisdn', 'e164', 'from', 'to', 'sender', 'senders', 'recipient', 'source', 'destination'].concat(
    ['sourceaddress', 'destinationaddress', 'sourceaddr', 'destinationaddr', 'destaddr', 'value'],
  ),
);

const DASHES = '\\-\\u2010-\\u2015\\u2212\\ufe58\\ufe63\\uff0d';
const GAP = `[\\s\\u200b-\\u200d\\u2060\\ufeff]*`;
const DASH = `${GAP}[${DASHES}]${GAP}`;
/**
 * `AUTH-<SLUG>-<token>` with every tolerance of matching; a truncated token too, unless it could be a word
 * ("auth-token-expired").
 */
const TOKEN = new RegExp(`AUTH${DASH}[0-9A-Z]{2,12}${DASH}(?:[0-9A-Z]{16}|(?=[A-Z]*[0-9])[0-9A-Z]{4,})`, 'gi');
/**
 * Secrets that are recognisable by their form. Safe on a finished JSON line too: each needs a letter or a mark that
 * no bare JSON number, name or punctuation has, and none matches across a quotation mark.
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
/** Sixteen characters of the token's alphabet on their own: a token without its prefix. */
const BARE_TOKEN = /(?<![0-9A-Za-z_])[0-9A-HJKMNP-TV-Z]{16}(?![0-9A-Za-z_])/g;
/** Endings of names of secrets: `bindPassword`, `webhookSecret`. */
const SECRET_ENDING = /(?:password|passphrase|secret|token|apikey|privatekey)$/;
const ONE_TIME_CODE = /^[0-9]{6}$/;

/** Removes secrets that are recognisable by their form. Phone numbers stay; meant for finished log lines. */
export function redactSecrets(text: string): string {
  return SECRET_FORMS.reduce((redacted, [form, replacement]) => redacted.replace(form, replacement), text);
}

/**
 * A text for a log: secrets recognisable by their form removed, phone numbers masked, truncated at 4,000 characters.
 */
export function redactText(text: string): string {
  const cut = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
  return maskPhonesIn(redactSecrets(cut).replace(BARE_TOKEN, REDACTED));
}

/**
 * A value for a log: secrets by name and by form are removed, phone numbers masked, errors described, octets counted,
 * class instances named. Never throws, never calls a method of the value, bounded in depth and breadth.
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

/** Fields kept of a database or system error besides its message: no statement, parameter or row. */
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
