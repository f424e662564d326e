import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import type { Tone } from '../ui/layout.js';

export type Bind = Schemas['BindAnswer'];
export type Connection = Schemas['BindConnectionAnswer'];
export type BindChange = Schemas['BindChange'];
export type BindEvent = Schemas['BindEventView'];

export const createBind = (body: Schemas['BindDraft']): Promise<Bind> => dataOf(api.POST('/v1/admin/binds', { body }));

export const updateBind = (id: string, body: BindChange): Promise<Bind> =>
  dataOf(api.PATCH('/v1/admin/binds/{id}', { params: { path: { id } }, body }));

export const deleteBind = (id: string): Promise<unknown> =>
  dataOf(api.DELETE('/v1/admin/binds/{id}', { params: { path: { id } } }));

/** Kept live by `useBindsInterval`. */
export const bindsQuery = listing(['binds', 'list'], (query, signal) =>
  dataOf(api.GET('/v1/admin/binds', { params: { query }, signal })),
);

export const bindQuery = (id: string) =>
  queryOptions({
    queryKey: ['binds', 'one', id],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/binds/{id}', { params: { path: { id } }, signal })),
  });

/** Asked for again when the state of a connection has changed: `bind` is live. */
export const historyQuery = ({ id, status }: Bind) =>
  queryOptions({
    queryKey: ['binds', 'history', id, status.connections.map(({ since, lastErrorAt }) => [since, lastErrorAt])],
    queryFn: ({ signal }) => dataOf(api.GET('/v1/admin/binds/{id}/history', { params: { path: { id } }, signal })),
    placeholderData: keepPreviousData,
  });

/** The trace asks every gateway, so it is read on demand alone. */
export const traceQuery = (id: string) =>
  queryOptions({
    queryKey: ['binds', 'trace', id],
    queryFn: ({ signal }) => {
      const params = { path: { id }, query: { format: 'json' } } as const;
      return dataOf(api.GET('/v1/admin/binds/{id}/trace', { params, signal }));
    },
  });

export const STATE_TONES: Readonly<Record<Bind['status']['state'] | Connection['state'], Tone>> = {
  bound: 'good',
  degraded: 'warn',
  unbound: 'bad',
  disabled: 'quiet',
  connecting: 'accent',
  binding: 'accent',
  draining: 'warn',
  standoff: 'warn',
};

const ACTS = {
  enable: (id: string) => api.POST('/v1/admin/binds/{id}/enable', { params: { path: { id } } }),
  disable: (id: string) => api.POST('/v1/admin/binds/{id}/disable', { params: { path: { id } } }),
  drain: (id: string) => api.POST('/v1/admin/binds/{id}/drain', { params: { path: { id } } }),
  reconnect: (id: string) => api.POST('/v1/admin/binds/{id}/reconnect', { params: { path: { id } } }),
} as const;

export type BindAct = keyof typeof ACTS;

export const act = (id: string, name: BindAct): Promise<Bind> => dataOf(ACTS[name](id));

/** Sums over the connections of a bind. */
export function load({ status: { connections } }: Bind): {
  bound: number;
  submit: number;
  deliver: number;
  used: number;
  /** Of the slowest answer to an enquire_link, in milliseconds; null without one. */
  latency: number | null;
} {
  const sum = (of: (each: Connection) => number): number => connections.reduce((total, each) => total + of(each), 0);
  const times = connections.flatMap(({ enquireLinkMs }) => enquireLinkMs ?? []);
  return {
    bound: sum(({ state }) => (state === 'bound' ? 1 : 0)),
    submit: sum(({ measuredSubmitPerSecond }) => measuredSubmitPerSecond),
    deliver: sum(({ measuredDeliverPerSecond }) => measuredDeliverPerSecond),
    used: sum(({ windowUsed }) => windowUsed),
    latency: times.length === 0 ? null : Math.max(...times),
  };
}
