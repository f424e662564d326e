import type { QueryClient } from '@tanstack/react-query';
import {
  type AnyRouter,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { type JSX, useEffect } from 'react';
import { LIVE_MS } from './api/cursor.js';
import { isUnavailable } from './api/queries.js';
import { rootRoute, searchOf, shellRoute } from './base-routes.js';
import { developerRoutes } from './developer-routes.js';
import { operatorRoutes } from './operator-routes.js';
import { pagesOf } from './shell/pages.js';
import { Page } from './ui/layout.js';
import { Failure, Loading } from './ui/states.js';

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf('next', 'way', 'step', 'fault'),
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
  <main className="main main-alone">
    <Page title="No such page" lead="The console has no page at this address. It may be misspelled.">
      <p>
        <Link className="button" data-kind="tonal" to="/">
          Go to the first page
        </Link>
      </p>
    </Page>
  </main>
);

/** A page that could not be opened. While the server is away it is opened again every 5 s. */
function Broken({ error }: ErrorComponentProps): JSX.Element {
  // The type of the router depends on this component.
  const router: Pick<AnyRouter, 'invalidate'> = useRouter<AnyRouter>();
  const mayRecover = isUnavailable(error);
  useEffect(() => {
    if (!mayRecover) return undefined;
    const timer = setTimeout(() => void router.invalidate(), LIVE_MS);
    return () => clearTimeout(timer);
    // Each failure is another error.
  }, [router, mayRecover, error]);
  return (
    <main className="main main-alone">
      <Page title="The page was not opened">
        <Failure
          error={error instanceof Error ? error : new Error('The page failed.')}
          retry={() => void router.invalidate()}
        />
        {mayRecover && (
          <p className="soft small">
            The page tries again every 5 seconds. Not signed in yet? <Link to="/sign-in">Sign in with a key</Link>
          </p>
        )}
      </Page>
    </main>
  );
}

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
