import type { PageEntry } from './page-entry.js';

/** The pages of the installation's engineers. The first one opens after the sign-in. */
export const OPERATOR_PAGES = [
  { to: '/overview', name: 'Overview', icon: 'overview', key: 'o' },
  { to: '/binds', name: 'Binds', icon: 'binds', key: 'b' },
  { to: '/sessions', name: 'Sessions', icon: 'sessions', key: 's' },
  { to: '/messages', name: 'Messages', icon: 'messages', key: 'm' },
  { to: '/routes', name: 'Routes', icon: 'routes', key: 'r' },
  { to: '/numbers', name: 'Numbers', icon: 'numbers', key: 'n' },
  { to: '/systems', name: 'Systems', icon: 'systems', key: 'y' },
  { to: '/guard', name: 'Guard', icon: 'guard', key: 'd' },
  { to: '/webhooks', name: 'Webhooks', icon: 'webhooks', key: 'h' },
  { to: '/queues', name: 'Queues', icon: 'queues', key: 'q' },
  { to: '/gateways', name: 'Gateways', icon: 'gateways', key: 'w' },
  { to: '/audit', name: 'Audit', icon: 'audit', key: 'a' },
  { to: '/members', name: 'Members', icon: 'members', key: 'e' },
  { to: '/accounts', name: 'Accounts', icon: 'accounts', key: 'c' },
] as const satisfies readonly PageEntry[];
