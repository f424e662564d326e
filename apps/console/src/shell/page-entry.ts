import type { IconName } from '../ui/icons.js';

/** A page in the navigation and the command palette. */
export interface PageEntry {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
  /** Follows `g`. */
  readonly key: string;
}
