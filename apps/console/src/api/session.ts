import { queryOptions } from '@tanstack/react-query';
import { api, ApiError, dataOf, type Schemas, useCsrfToken } from './client.js';

export type Me = Schemas['MeAnswer'];
type Role = Me['role'];

/** Nothing is shown before this answer. */
const ME_TIMEOUT_MS = 10_000;

/** The holder of the session; null when nobody is signed in. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  staleTime: 60_000,
  queryFn: async (): Promise<Me | null> => {
    try {
      return keep(await dataOf(api.GET('/me', { signal: AbortSignal.timeout(ME_TIMEOUT_MS) })));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
});

export const signOut = (): Promise<unknown> => dataOf(api.POST('/sign-out'));

/** Of a new session too. */
export function keep(me: Me): Me {
  useCsrfToken(me.csrfToken);
  return me;
}

const RANKS: readonly Role[] = ['viewer', 'support', 'operator', 'owner'];

/** Whether the role of an engineer is at least that one. The server decides; this only hides what it would refuse. */
export const isAtLeast = (role: Role, least: Role): boolean => RANKS.indexOf(role) >= RANKS.indexOf(least);
