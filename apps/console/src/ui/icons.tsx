import type { JSX } from 'react';

/** Paths on a grid of 24, drawn with a stroke. */
const PATHS = {
  binds: 'M9 7H6a5 5 0 0 0 0 10h3M15 7h3a5 5 0 0 1 0 10h-3M8 12h8',
  sessions: 'M12 3 5 6v5c0 4.6 2.9 8 7 10 4.1-2 7-5.4 7-10V6zM9 12l2.2 2.2L15.5 10',
  messages: 'M5 5h14a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1h-7l-4 3v-3H5a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z',
  routes:
    'M4 19a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M16 5a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M8 19h6a3.5 3.5 0 0 0 0-7h-4a3.5 3.5 0 0 1 0-7h6',
  queues: 'M4 7h16M4 12h16M4 17h10',
  gateways: 'M5 4h14v6H5zM5 14h14v6H5zM8.5 7h.01M8.5 17h.01',
  audit: 'M7 3h7l4 4v14H7zM14 3v4h4M10 12h5M10 16h5',
  members:
    'M5.8 8a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0 -6.4 0M3 20c0-3.3 2.7-6 6-6s6 2.7 6 6M15.5 4.9a3.2 3.2 0 0 1 0 6.2M18 14.4c1.9.8 3 2.9 3 5.6',
  overview: 'M4 19V10M10 19V5M16 19v-7M21 19H3',
  search: 'M4.5 11a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0 -13 0M15.6 15.6 20 20',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'm6 6 12 12M18 6 6 18',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  sun: 'M8 12a4 4 0 1 0 8 0a4 4 0 1 0 -8 0M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  auto: 'M4 12a8 8 0 1 0 16 0a8 8 0 1 0 -16 0M12 4v16M12 8h6.5M12 12h8M12 16h6.5',
  numbers: 'M9 4 7 20M17 4l-2 16M5 9h15M4 15h15',
  systems: 'M5 5h14v5H5zM5 14h14v5H5zM12 10v4M8 7.5h.01M8 16.5h.01',
  guard: 'M12 3 5 6v5c0 4.6 2.9 8 7 10 4.1-2 7-5.4 7-10V6zM12 8v4.5M12 15.5h.01',
  webhooks: 'M4 12h11M11 7l5 5-5 5M20 5v14',
  drag: 'M9 6h.01M9 12h.01M9 18h.01M15 6h.01M15 12h.01M15 18h.01',
  up: 'm6 14 6-6 6 6',
  down: 'm6 10 6 6 6-6',
  exit: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  quickstart: 'M13 3 5 14h6l-1 7 8-11h-6z',
  keys: 'M4 15.5a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0M11.8 12.2 20 4M16.5 7.5l3 3',
  brands: 'M8 3h8a2 2 0 0 1 2 2v14a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM9 8h6M9 12h6M11 17.5h2',
  webhook: 'M3 12h10M9 8l4 4-4 4M14 4h5a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1h-5',
  requests: 'm8 8-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14',
  usage: 'M5 20v-7M12 20V4M19 20v-11',
  accounts: 'M4 21V7l8-4 8 4v14M9 21v-5h6v5M9 10h.01M15 10h.01',
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }): JSX.Element => (
  <svg
    viewBox="0 0 24 24"
    width="20"
    height="20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
);
