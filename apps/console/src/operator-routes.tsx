import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { searchOf, shellRoute } from './base-routes.js';

const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/overview',
  validateSearch: searchOf('range', 'from', 'to', 'mode'),
  component: lazyRouteComponent(() => import('./overview/overview.page.js'), 'OverviewPage'),
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

const numbersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/numbers',
  component: lazyRouteComponent(() => import('./numbers/numbers.page.js'), 'NumbersPage'),
});

const systemsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/systems',
  component: lazyRouteComponent(() => import('./systems/systems.page.js'), 'SystemsPage'),
});

const guardRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/guard',
  component: lazyRouteComponent(() => import('./guard/guard.page.js'), 'GuardPage'),
});

const deliveriesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  validateSearch: searchOf('status', 'accountId', 'sessionId', 'mode'),
  component: lazyRouteComponent(() => import('./webhooks-admin/deliveries.page.js'), 'DeliveriesPage'),
});

const deliveryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$id',
  component: lazyRouteComponent(() => import('./webhooks-admin/delivery.page.js'), 'DeliveryPage'),
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

/** The pages of the installation's operators. */
export const operatorRoutes = [
  overviewRoute,
  bindsRoute,
  bindRoute,
  sessionsRoute,
  sessionRoute,
  messagesRoute,
  messageRoute,
  routesRoute,
  numbersRoute,
  systemsRoute,
  guardRoute,
  deliveriesRoute,
  deliveryRoute,
  queuesRoute,
  gatewaysRoute,
  auditRoute,
  membersRoute,
] as const;
