import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';
import { meQuery } from './session.js';

const RETRIES = 2;

/** Whether the server gave no answer, or is not ready: the same call may succeed later. */
export const isUnavailable = (error: unknown): boolean => error instanceof ApiError && [0, 503].includes(error.status);

/**
 * The browser's notion of being offline concerns its network, not this server, which may be on this computer. With the
 * default of `online` a call would wait for the network, without an error and without an end.
 */
const ALWAYS = { networkMode: 'always' } as const;

/** The client of all queries. @param onSignedOut called when the server no longer knows the session */
export function createQueries(onSignedOut: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (!(error instanceof ApiError) || error.status !== 401 || client.getQueryData(meQuery.queryKey) === null) return;
    client.setQueryData(meQuery.queryKey, null);
    onSignedOut();
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // Reads of people’s data are entries of the audit log: a change of the window makes none.
        refetchOnWindowFocus: false,
        // The server decided the others.
        retry: (count, error) => count < RETRIES && isUnavailable(error),
        ...ALWAYS,
        refetchOnReconnect: true,
      },
      mutations: ALWAYS,
    },
  });
  return client;
}
