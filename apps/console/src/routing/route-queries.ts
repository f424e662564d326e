import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import type { Tone } from '../ui/layout.js';

export type Route = Schemas['RouteAnswer'];
export type Resolution = Schemas['RouteResolution'];
export type Candidate = Resolution['candidates'][number];

export const routesQuery = listing(['routes', 'list'], (query, signal) =>
  dataOf(api.GET('/v1/admin/routes', { params: { query }, signal })),
);

export const updateRoute = (id: string, body: Schemas['RouteChange']): Promise<Route> =>
  dataOf(api.PATCH('/v1/admin/routes/{id}', { params: { path: { id } }, body }));

/** The way that a code to this phone would take now. */
export const resolutionQuery = (phone: string, brandId: string | undefined) =>
  queryOptions({
    queryKey: ['routes', 'resolve', phone, brandId ?? ''],
    queryFn: ({ signal }) => {
      const body = { phone, ...(brandId === undefined ? {} : { brandId }) };
      return dataOf(api.POST('/v1/admin/routes/resolve', { body, signal }));
    },
    staleTime: 0,
  });

export const DECISION_TONES: Readonly<Record<Resolution['decision'], Tone>> = {
  send: 'good',
  wait: 'warn',
  refused: 'bad',
  no_route: 'bad',
};

export const DECISION_NAMES: Readonly<Record<Resolution['decision'], string>> = {
  send: 'would be sent',
  wait: 'would wait',
  refused: 'refused by the guard',
  no_route: 'no route',
};

export const VERDICT_TONES: Readonly<Record<Candidate['verdict'], Tone>> = {
  chosen: 'good',
  next: 'accent',
  skipped: 'quiet',
};
