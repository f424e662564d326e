import type { PageEntry } from './page-entry.js';

/** The pages of an account's own developers. The first one opens after the sign-in. */
export const DEVELOPER_PAGES = [
  { to: '/quickstart', name: 'Quickstart', icon: 'quickstart', key: 's' },
  { to: '/keys', name: 'Keys', icon: 'keys', key: 'k' },
  { to: '/brands', name: 'Brands', icon: 'brands', key: 'b' },
  { to: '/webhook', name: 'Webhook', icon: 'webhook', key: 'w' },
  { to: '/requests', name: 'Requests', icon: 'requests', key: 'r' },
  { to: '/usage', name: 'Usage', icon: 'usage', key: 'u' },
] as const satisfies readonly PageEntry[];
