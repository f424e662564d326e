import type { PageEntry } from './page-entry.js';

/** The pages of the installation's engineers. The first one opens after the sign-in. */
export const OPERATOR_PAGES = [
  { to: '/binds', name: 'Binds', icon: 'binds', key: 'b' },
  { to: '/sessions', name: 'Sessions', icon: 'sessions', key: 's' },
  { to: '/messages', name: 'Messages', icon: 'messages', key: 'm' },
  { to: '/routes', name: 'Routes', icon: 'routes', key: 'r' },
  { to: '/queues', name: 'Queues', icon: 'queues', key: 'q' },
  { to: '/gateways', name: 'Gateways', icon: 'gateways', key: 'w' },
  { to: '/audit', name: 'Audit', icon: 'audit', key: 'a' },
  { to: '/members', name: 'Members', icon: 'members', key: 'e' },
  { to: '/accounts', name: 'Accounts', icon: 'accounts', key: 'c' },
] as const satisfies readonly PageEntry[];
