import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { shellRoute } from './base-routes.js';

interface AccountSearch {
  readonly account?: string;
}

/** The parent of the pages of an account. An owner of the installation names the account in the address. */
const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  id: 'account',
  validateSearch: ({ account }: Record<string, unknown>): AccountSearch =>
    typeof account === 'string' && account !== '' ? { account } : {},
  beforeLoad: ({ context, search }) => {
    if (context.me.accountId === undefined && search.account === undefined) throw redirect({ to: '/accounts' });
  },
  component: lazyRouteComponent(() => import('./account/account.frame.js'), 'AccountFrame'),
});

const accountsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/accounts',
  component: lazyRouteComponent(() => import('./accounts/accounts.page.js'), 'AccountsPage'),
});

const quickstartRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/quickstart',
  component: lazyRouteComponent(() => import('./quickstart/quickstart.page.js'), 'QuickstartPage'),
});

const keysRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys.page.js'), 'KeysPage'),
});

const brandsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/brands',
  component: lazyRouteComponent(() => import('./brands/brands.page.js'), 'BrandsPage'),
});

const brandRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/brands/$id',
  component: lazyRouteComponent(() => import('./brands/brand.page.js'), 'BrandPage'),
});

const webhookRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/webhook',
  component: lazyRouteComponent(() => import('./webhook/webhook.page.js'), 'WebhookPage'),
});

const requestsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/requests',
  component: lazyRouteComponent(() => import('./requests/requests.page.js'), 'RequestsPage'),
});

const usageRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: '/usage',
  component: lazyRouteComponent(() => import('./usage/usage.page.js'), 'UsagePage'),
});

/** The pages of an account's own developers. */
export const developerRoutes = [
  accountsRoute,
  accountRoute.addChildren([
    quickstartRoute,
    keysRoute,
    brandsRoute,
    brandRoute,
    webhookRoute,
    requestsRoute,
    usageRoute,
  ]),
] as const;
