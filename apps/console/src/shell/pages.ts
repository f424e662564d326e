import type { Me } from '../api/session.js';
import { DEVELOPER_PAGES } from './developer-pages.js';
import { OPERATOR_PAGES } from './operator-pages.js';

export type Page = (typeof OPERATOR_PAGES | typeof DEVELOPER_PAGES)[number];

/** The pages of the navigation and the command palette, for the holder of a session. */
export const pagesOf = ({ accountId }: Me): readonly [Page, ...Page[]] =>
  accountId === undefined ? OPERATOR_PAGES : DEVELOPER_PAGES;
