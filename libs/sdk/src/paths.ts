import { NotFoundError } from './errors.js';

/** Ids often come from a browser. An invalid one is not found, without a call: `..` would change the path. */
export function pathPart(id: string, code: 'SESSION_NOT_FOUND' | 'NOT_FOUND'): string {
  if (/^[A-Za-z0-9_]{1,64}$/.test(id)) return id;
  throw new NotFoundError(code, { status: 404, message: 'This is not an id.' });
}

export function queryText(fields: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query.toString()}`;
}
