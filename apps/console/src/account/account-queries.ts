import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { type AccountScope, keyOf } from './scope.js';

export type OwnBrand = Schemas['OwnBrandAnswer'];

const STALE_MS = 30_000;

export const accountQuery = (scope: AccountScope) =>
  queryOptions({
    queryKey: keyOf(scope, 'account'),
    staleTime: STALE_MS,
    queryFn: ({ signal }) => dataOf(api.GET('/v1/account', { headers: scope.headers, signal })),
  });

/** The brands of the account, newest first; the first 100. */
export const ownBrandsQuery = (scope: AccountScope) =>
  queryOptions({
    queryKey: keyOf(scope, 'brands'),
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<readonly OwnBrand[]> => {
      const params = { query: { limit: 100 } };
      return (await dataOf(api.GET('/v1/account/brands', { headers: scope.headers, params, signal }))).data;
    },
  });
