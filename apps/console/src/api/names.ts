import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from './client.js';

const NAMES_STALE_MS = 60_000;

type Brand = Schemas['BrandAnswer'];

/** The brands, newest first; the first 100. */
export const brandsQuery = queryOptions({
  queryKey: ['brands'],
  staleTime: NAMES_STALE_MS,
  queryFn: async ({ signal }): Promise<readonly Brand[]> =>
    (await dataOf(api.GET('/v1/admin/brands', { params: { query: { limit: 100 } }, signal }))).data,
});

/** Names of binds and systems by id; the first 100 of each. */
export const linkNamesQuery = queryOptions({
  queryKey: ['link-names'],
  staleTime: NAMES_STALE_MS,
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
    const query = { limit: 100 };
    const [binds, systems] = await Promise.all([
      dataOf(api.GET('/v1/admin/binds', { params: { query }, signal })),
      dataOf(api.GET('/v1/admin/smpp-systems', { params: { query }, signal })),
    ]);
    return new Map([
      ...binds.data.map(({ id, name }) => [id, name] as const),
      ...systems.data.map(({ id, systemId }) => [id, systemId] as const),
    ]);
  },
});
