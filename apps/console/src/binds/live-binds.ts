import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { LIVE_MS, type Listed } from '../api/cursor.js';
import { useLive } from '../api/live.js';
import type { Listener } from '../api/realtime.js';
import { type Bind, bindQuery, bindsQuery } from './bind-queries.js';

/** A live page still asks once a minute: events do not announce deleted binds. */
const REFRESH_MS = 60_000;

const isBind = (data: unknown): data is Bind =>
  typeof data === 'object' && data !== null && 'id' in data && 'name' in data && 'status' in data;

/** Newest first, as the API lists them. */
const byAge = (one: Bind, other: Bind): number => other.id.localeCompare(one.id, 'en');

function keep(client: QueryClient, bind: Bind): void {
  client.setQueryData(bindQuery(bind.id).queryKey, bind);
}

type Known = InfiniteData<Listed<Bind>>;

function replaced(known: Known | undefined, bind: Bind): Known | undefined {
  if (known === undefined) return undefined;
  const isKnown = known.pages.some(({ data }) => data.some(({ id }) => id === bind.id));
  const pages = known.pages.map(({ data, hasMore }, page) => ({
    hasMore,
    data:
      !isKnown && page === 0 ? [bind, ...data].sort(byAge) : data.map((each) => (each.id === bind.id ? bind : each)),
  }));
  return { ...known, pages };
}

const listenerOf = (client: QueryClient): Listener => ({
  onSnapshot: (snapshot) => {
    const binds = Array.isArray(snapshot) ? snapshot.filter(isBind).sort(byAge) : [];
    client.setQueryData(bindsQuery.queryKey, { pages: [{ data: binds, hasMore: false }], pageParams: [''] });
    for (const bind of binds) keep(client, bind);
  },
  onEvent: (event, bind) => {
    if (event !== 'bind.updated' || !isBind(bind)) return;
    const before = client.getQueryData<Bind>(bindQuery(bind.id).queryKey);
    client.setQueryData(bindsQuery.queryKey, (known) => replaced(known, bind));
    keep(client, bind);
    // A new owner of a connection is also news of the gateways.
    if (ownersOf(before) !== ownersOf(bind)) void client.invalidateQueries({ queryKey: ['gateways'] });
  },
});

const ownersOf = (bind: Bind | undefined): string =>
  (bind?.status.connections ?? []).map(({ owner }) => owner).join(' ');

/** Keeps the binds live. @returns the interval at which a query of binds must ask */
export const useBindsInterval = (): number => (useLive('binds', listenerOf) ? REFRESH_MS : LIVE_MS);
