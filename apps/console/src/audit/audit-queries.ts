import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';

export type Entry = Schemas['AuditAnswer'];
export type AuditSearch = Readonly<Partial<Record<'resource' | 'resourceId', string>>>;

export const auditQuery = (search: AuditSearch) =>
  listing(['audit', search], (page, signal) =>
    dataOf(api.GET('/v1/admin/audit', { params: { query: { ...page, ...search } }, signal })),
  );

/** The fields that an entry changed; of a create or delete all of them. */
export function changesOf({ before, after }: Pick<Entry, 'before' | 'after'>): Readonly<Record<string, unknown>> {
  if (before === null || after === null) return before ?? after ?? {};
  const [old, now] = [before as Readonly<Record<string, unknown>>, after as Readonly<Record<string, unknown>>];
  const changed = Object.keys({ ...old, ...now }).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, { before: old[name] ?? null, after: now[name] ?? null }]));
}
