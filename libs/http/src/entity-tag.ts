/** One element of a list of entity tags, which may be empty (RFC 9110, 5.6.1 and 8.8.3), and what separates it from the next. */
const ELEMENT = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(,|$)/y;

/**
 * Whether `If-None-Match` names this tag, by weak comparison (RFC 9110, 13.1.2). `tag` is strong, quotes included. False
 * for a header that cannot be read: the whole document is sent then.
 */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  let named = false;
  let ended = false;
  ELEMENT.lastIndex = 0;
  while (!ended) {
    const element = ELEMENT.exec(ifNoneMatch);
    if (element === null) return false;
    named ||= element[1] === tag;
    ended = element[2] === '';
  }
  return named;
}
