import { OPERATOR_PAGES } from './operator-pages.js';

/** The pages of an account's own developers. The first one opens after the sign-in. */
export const DEVELOPER_PAGES = OPERATOR_PAGES;
