import type { IconName } from '../ui/icons.js';

/** The pages of the navigation and the command palette. `key` follows `g`. */
export const PAGES = [
  { to: '/binds', name: 'Binds', icon: 'binds', key: 'b' },
  { to: '/sessions', name: 'Sessions', icon: 'sessions', key: 's' },
  { to: '/messages', name: 'Messages', icon: 'messages', key: 'm' },
  { to: '/routes', name: 'Routes', icon: 'routes', key: 'r' },
  { to: '/queues', name: 'Queues', icon: 'queues', key: 'q' },
  { to: '/gateways', name: 'Gateways', icon: 'gateways', key: 'w' },
  { to: '/audit', name: 'Audit', icon: 'audit', key: 'a' },
  { to: '/members', name: 'Members', icon: 'members', key: 'e' },
] as const satisfies readonly { to: string; name: string; icon: IconName; key: string }[];
