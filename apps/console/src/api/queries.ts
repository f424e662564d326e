import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.js';
import { meQuery } from './session.js';

const RETRIES = 2;

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
        // The server decided the others; only an answer that did not come, or 503, may be better the next time.
        retry: (count, error) => count < RETRIES && error instanceof ApiError && [0, 503].includes(error.status),
      },
    },
  });
  return client;
}
