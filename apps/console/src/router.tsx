import type { QueryClient } from '@tanstack/react-query';
import {
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  redirect,
} from '@tanstack/react-router';
import type { JSX } from 'react';
import { rootRoute, searchOf, shellRoute } from './base-routes.js';
import { developerRoutes } from './developer-routes.js';
import { operatorRoutes } from './operator-routes.js';
import { pagesOf } from './shell/pages.js';
import { Page } from './ui/layout.js';
import { Failure, Loading } from './ui/states.js';

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('next'),
  component: lazyRouteComponent(() => import('./sign-in/sign-in.page.js'), 'SignInPage'),
});

const firstRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: ({ context }) => {
    throw redirect({ to: pagesOf(context.me)[0].to });
  },
});

const tree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([firstRoute, ...operatorRoutes, ...developerRoutes]),
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
