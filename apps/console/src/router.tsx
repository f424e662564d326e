import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  redirect,
} from '@tanstack/react-router';
import type { JSX } from 'react';
import { meQuery } from './api/session.js';
import { Shell } from './shell/shell.js';
import { Page } from './ui/layout.js';
import { Failure, Loading } from './ui/states.js';

const rootRoute = createRootRouteWithContext<{ readonly queries: QueryClient }>()({});

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Keeps the named texts of a query. */
const searchOf =
  <K extends string>(...names: readonly K[]) =>
  (search: Record<string, unknown>): Partial<Record<K, string>> => {
    const kept: Partial<Record<K, string>> = {};
    for (const name of names) {
      const value = text(search[name]);
      if (value !== undefined) kept[name] = value;
    }
    return kept;
  };

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('next', 'way', 'step', 'fault'),
  component: lazyRouteComponent(() => import('./sign-in/sign-in.page.js'), 'SignInPage'),
});

const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const me = await context.queries.query({ ...meQuery, staleTime: 'static' });
    if (me === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
});

const firstRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/binds' });
  },
});

const bindsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/binds',
  component: lazyRouteComponent(() => import('./binds/binds.page.js'), 'BindsPage'),
});

const bindRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/binds/$id',
  component: lazyRouteComponent(() => import('./binds/bind.page.js'), 'BindPage'),
});

const sessionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sessions',
  validateSearch: searchOf('phone', 'status', 'mode'),
  component: lazyRouteComponent(() => import('./sessions/sessions.page.js'), 'SessionsPage'),
});

const sessionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/sessions/$id',
  component: lazyRouteComponent(() => import('./sessions/session.page.js'), 'SessionPage'),
});

const messagesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages',
  validateSearch: searchOf('phone', 'direction', 'fate', 'sessionId'),
  component: lazyRouteComponent(() => import('./messages/messages.page.js'), 'MessagesPage'),
});

const messageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/messages/$id',
  component: lazyRouteComponent(() => import('./messages/message.page.js'), 'MessagePage'),
});

const routesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/routes',
  validateSearch: searchOf('phone', 'brandId'),
  component: lazyRouteComponent(() => import('./routing/routes.page.js'), 'RoutesPage'),
});

const queuesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/queues',
  component: lazyRouteComponent(() => import('./queues/queues.page.js'), 'QueuesPage'),
});

const gatewaysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/gateways',
  component: lazyRouteComponent(() => import('./gateways/gateways.page.js'), 'GatewaysPage'),
});

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: searchOf('resource', 'resourceId'),
  component: lazyRouteComponent(() => import('./audit/audit.page.js'), 'AuditPage'),
});

const membersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./members/members.page.js'), 'MembersPage'),
});

const tree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    firstRoute,
    bindsRoute,
    bindRoute,
    sessionsRoute,
    sessionRoute,
    messagesRoute,
    messageRoute,
    routesRoute,
    queuesRoute,
    gatewaysRoute,
    auditRoute,
    membersRoute,
  ]),
]);

const NotFound = (): JSX.Element => (
  <main className="main">
    <Page title="No such page" lead="The address leads to no page of the console.">
      <p>
        <Link to="/">Go to the first page</Link>
      </p>
    </Page>
  </main>
);

const Broken = ({ error, reset }: ErrorComponentProps): JSX.Element => (
  <main className="main">
    <Failure error={error instanceof Error ? error : new Error('The page failed.')} retry={reset} />
  </main>
);

// The types of all routes are in the type of the router.
export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: '/console',
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: () => <Loading what="the page" />,
    defaultErrorComponent: Broken,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
