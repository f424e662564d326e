import { queryOptions, skipToken } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import { type AccountScope, keyOf } from '../account/scope.js';
import { api, dataOf, type Schemas } from '../api/client.js';
import type { paths } from '../api/schema.js';

export type Session = Schemas['SessionAnswer'];

/** Calls of the page itself with the key that it shows, as a server makes them. */
const server = createClient<paths>({ baseUrl: '', credentials: 'omit' });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The key that was made here: in the memory of this page alone, until it is left or loaded again. */
export const quickKeyQuery = (scope: AccountScope) =>
  queryOptions<string>({
    queryKey: keyOf(scope, 'quick-key'),
    queryFn: skipToken,
    staleTime: Infinity,
    gcTime: Infinity,
  });

export const openSession = (key: string, body: Schemas['CreateVerification']): Promise<Session> =>
  dataOf(server.POST('/v1/verify', { headers: bearer(key), body }));

const SHOWN = 5;
const SOON_MS = 2_000;
const LATER_MS = 5_000;

/**
 * The latest sessions, live: with the key that was made here, or for a member by the session of the console. An owner of the
 * installation reads sessions with a key alone.
 */
export const latestQuery = (scope: AccountScope, key: string | undefined) =>
  queryOptions({
    queryKey: keyOf(scope, 'latest', key ?? ''),
    enabled: key !== undefined || !scope.isOwner,
    queryFn: async ({ signal }): Promise<readonly Session[]> => {
      const params = { query: { limit: SHOWN } };
      const call =
        key === undefined
          ? api.GET('/v1/verify', { headers: scope.headers, params, signal })
          : server.GET('/v1/verify', { headers: bearer(key), params, signal });
      return (await dataOf(call)).data;
    },
    refetchInterval: ({ state }) => (state.data?.some(isPending) === true ? SOON_MS : LATER_MS),
  });

const isPending = ({ status }: Session): boolean => status === 'pending';

/** The number and the text of the link that a phone opens. */
export function smsOf({ fallbackUri }: Session): { readonly number: string; readonly text: string } | null {
  const [, number, text] = /^sms:([^?]+)\?body=(.+)$/.exec(fallbackUri ?? '') ?? [];
  return number === undefined || text === undefined ? null : { number, text: decodeURIComponent(text) };
}
