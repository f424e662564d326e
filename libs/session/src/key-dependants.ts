import type { KeyDependants } from '@countersign/key-ring';
import { LONGEST_SESSION_MS } from './rules/session.js';

/** The longest window of a code counter. */
const COUNTER_SECONDS = 86_400;
const LONGEST_SESSION_SECONDS = LONGEST_SESSION_MS / 1000;

/**
 * Rows of this module that depend on the master key: tokens of live sessions. Codes, tickets and counters have no key
 * version column; each belongs to a session, and expires within a day of the last session of that version.
 */
export const SESSION_KEY_DEPENDANTS: KeyDependants = {
  columns: [],
  rows: [
    {
      name: 'sessions (pending)',
      count: `SELECT count(*)::int AS rows, max(created_at) AS "newestAt" FROM sessions
        WHERE key_version = $1 AND status = 'pending' AND expires_at > clock_timestamp() AND id >= $2::uuid`,
      isNeeded: true,
      gatewaysWrite: false,
      livesSeconds: LONGEST_SESSION_SECONDS,
      renewal: 'ends with the session',
    },
    {
      name: 'sessions (codes, tickets and counters of the last day)',
      count: `SELECT count(*)::int AS rows, max(created_at) AS "newestAt" FROM sessions
        WHERE key_version = $1 AND id >= $2::uuid`,
      isNeeded: false,
      gatewaysWrite: false,
      livesSeconds: LONGEST_SESSION_SECONDS + COUNTER_SECONDS,
      renewal: 'expires within a day',
    },
  ],
};
