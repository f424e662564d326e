import { maskPhone } from '@countersign/phone';

/** Characters of a target that are read, and octets that are kept. */
const MAX_READ = 1_024;
const MAX_KEPT_OCTETS = 512;
/** Times that a target is unescaped: phones are found however often they were escaped. */
const MAX_ESCAPES = 3;

/** The beginning of a secret that somebody has put into a URL. */
const SECRET = /(csk_(?:live|test|admin)_|rtk_|whsec_)[^&?#/\s]*/gi;
/** An email address; longer ones than mail can have are masked in part. */
const EMAIL = /[^\s/?&=#@:,;<>"]{1,64}@[^\s/?&=#@:,;<>"]{1,255}/gu;
/** The version of the API, ids and days stay readable; other digits, with any signs between them, may be a phone. */
const DIGITS =
  /(?<kept>^\/(?:console\/api\/)?v1(?=\/)|(?<![A-Za-z0-9])[a-z]{2,5}_[0-7][0-9A-HJKMNP-TV-Z]{25}(?![A-Za-z0-9])|(?<!\p{Nd})(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\p{Nd}))|\+?\p{Nd}(?:[^\p{L}\p{Nd}&=]{0,3}\p{Nd}){5,}/gu;
/** Of a target that is not read to its end: what may be the beginning of a phone, a secret or an address. */
const CUT_TOKEN = /[^/?&=#]{0,64}$/u;
const CONTROLS = /\p{C}/gu;

/** The path and the query of a request for a log: without secrets and email addresses, phones masked, escapes decoded, at most 512 octets. */
export function maskTarget(target: string): string {
  const read = unescaped(target.slice(0, MAX_READ));
  const text = (target.length > MAX_READ ? read.replace(CUT_TOKEN, '…') : read)
    .replace(CONTROLS, '\ufffd')
    .replace(SECRET, '$1[redacted]')
    .replace(EMAIL, '[email]');
  const masked = text.replace(DIGITS, (found, kept: string | undefined) => kept ?? maskPhone(found));
  return cut(masked);
}

/** A character that would be cut apart is left out. */
const cut = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_KEPT_OCTETS), { stream: true });

function unescaped(target: string): string {
  let text = target;
  for (let times = 0; times < MAX_ESCAPES && text.includes('%'); times += 1)
    text = text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll('%', ''), 'hex').toString());
  return text;
}
