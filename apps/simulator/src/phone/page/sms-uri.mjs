const SCHEME = /^(?:sms|smsto):/i;
/** Separators between digits that RFC 3966 allows. */
const SEPARATORS = /[\s().-]/g;
const NUMBER = /^\+?[0-9]{3,15}$/;
/** iOS writes `&body=` or `;body=` where RFC 5724 has `?body=`. */
const FIELDS_BEGIN = /[?&;]/;

/** Undoes percent-encoding; a plus stays a plus (RFC 5724, 2.2). Null when it is malformed. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * Parses `sms:+14155550199?body=Hello` to the number and the text; null for anything else. One recipient and at most
 * one body: more would be ambiguous.
 */
export function parseSmsUri(uri) {
  const trimmed = uri.trim();
  if (!SCHEME.test(trimmed)) return null;
  const rest = trimmed.slice(trimmed.indexOf(':') + 1).replace(/^\/\//, '');
  const cut = rest.search(FIELDS_BEGIN);
  const number = decoded(cut === -1 ? rest : rest.slice(0, cut))?.replace(SEPARATORS, '') ?? '';
  const fields = cut === -1 ? [] : rest.slice(cut + 1).split(/[?&;]/);
  const bodies = fields.filter((field) => /^body=/i.test(field));
  const text = bodies.length === 0 ? '' : decoded((bodies[0] ?? '').slice('body='.length));
  if (!NUMBER.test(number) || text === null || bodies.length > 1) return null;
  return { number, text };
}

/** The `sms:` URI behind the `#` of this page's address, plain or percent-encoded once more; null without one. */
export function smsUriOfHash(hash) {
  const behind = hash.replace(/^#/, '');
  if (SCHEME.test(behind)) return behind;
  const once = decoded(behind);
  return once !== null && SCHEME.test(once) ? once : null;
}
