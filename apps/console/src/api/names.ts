import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from './client.js';
import { type Listed, PAGE_ROWS } from './cursor.js';

const NAMES_STALE_MS = 60_000;
/** Pages that are read for names. */
const MAX_PAGES = 20;

export type Brand = Schemas['BrandAnswer'];
export type Account = Schemas['AccountAnswer'];
type Query = { readonly limit: number; readonly startingAfter?: string };

/** All rows of a listing, up to MAX_PAGES pages. */
async function allOf<T extends { readonly id: string }>(read: (query: Query) => Promise<Listed<T>>): Promise<T[]> {
  const rows: T[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const last = rows.at(-1)?.id;
    const { data, hasMore } = await read({ limit: PAGE_ROWS, ...(last === undefined ? {} : { startingAfter: last }) });
    rows.push(...data);
    if (!hasMore) break;
  }
  return rows;
}

/** The brands, newest first. */
export const brandsQuery = queryOptions({
  queryKey: ['brands'],
  staleTime: NAMES_STALE_MS,
  queryFn: ({ signal }): Promise<readonly Brand[]> =>
    allOf((query) => dataOf(api.GET('/v1/admin/brands', { params: { query }, signal }))),
});

/** The accounts, newest first. */
export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  staleTime: NAMES_STALE_MS,
  queryFn: ({ signal }): Promise<readonly Account[]> =>
    allOf((query) => dataOf(api.GET('/v1/admin/accounts', { params: { query }, signal }))),
});

/** Names of binds and systems by id. */
export const linkNamesQuery = queryOptions({
  queryKey: ['link-names'],
  staleTime: NAMES_STALE_MS,
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const [binds, systems] = await Promise.all([
      allOf((query) => dataOf(api.GET('/v1/admin/binds', { params: { query }, signal }))),
      allOf((query) => dataOf(api.GET('/v1/admin/smpp-systems', { params: { query }, signal }))),
    ]);
    return new Map([
      ...binds.map(({ id, name }) => [id, name] as const),
      ...systems.map(({ id, systemId }) => [id, systemId] as const),
    ]);
  },
});
