import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { searchOf, shellRoute } from './base-routes.js';

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

/** The pages of the installation's operators. */
export const operatorRoutes = [
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
] as const;
