import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { meQuery } from './api/session.js';
import { Shell } from './shell/shell.js';

export const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()({});

/** The parent of all pages behind the sign-in. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const me = await context.queries.query({ ...meQuery, staleTime: 'static' });
    if (me === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
    return { me };
  },
});

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Keeps the named texts of a query. */
export const searchOf =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): Partial<Record<K, string>> => {
    const kept: Partial<Record<K, string>> = {};
    for (const name of names) {
      const value = text(search[name]);
      if (value !== undefined) kept[name] = value;
    }
    return kept;
  };
