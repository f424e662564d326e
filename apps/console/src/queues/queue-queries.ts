import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { LIVE_MS } from '../api/cursor.js';

export type Queue = Schemas['QueueAnswer'];

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  refetchInterval: LIVE_MS,
  queryFn: async ({ signal }) => (await dataOf(api.GET('/v1/admin/queues', { signal }))).data,
});
