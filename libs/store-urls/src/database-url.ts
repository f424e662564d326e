import { readHostList, urlsOf } from './host-list.js';

const SCHEMES: readonly string[] = ['postgres', 'postgresql'];
const SESSION_ATTRIBUTES = 'target_session_attrs';
/** A standby cannot serve this product: both values of libpq mean a server that takes writes. */
const WRITABLE: readonly string[] = ['read-write', 'primary'];

export const DATABASE_URL_FORM =
  'a URL that begins with postgres:// or postgresql://, with several hosts as ' +
  'postgres://h1:5432,h2:5432/db?target_session_attrs=read-write';

/**
 * A database URL as one URL per host, without `target_session_attrs`, which the driver does not know. Null unless it is one of
 * `DATABASE_URL_FORM`.
 */
export function databaseUrls(text: string): string[] | null {
  const list = readHostList(text);
  if (list === null || !SCHEMES.includes(list.scheme)) return null;
  const urls = urlsOf(list);
  if (!urls.every((url) => URL.canParse(url))) return null;
  const wanted = new URL(urls[0] ?? '').searchParams.getAll(SESSION_ATTRIBUTES);
  if (!wanted.every((value) => WRITABLE.includes(value))) return null;
  return wanted.length === 0 ? urls : urls.map(withoutSessionAttributes);
}

function withoutSessionAttributes(url: string): string {
  const parsed = new URL(url);
  parsed.searchParams.delete(SESSION_ATTRIBUTES);
  return parsed.href;
}
