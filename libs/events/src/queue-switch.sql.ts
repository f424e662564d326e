import type { QueueName } from './queues.js';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;
const SWITCH = `name AS id, paused_at AS "pausedAt"`;

/** A condition for statements that start work of a queue: false while it is paused. */
export const isRunning = (queue: QueueName): string =>
  `NOT EXISTS (SELECT 1 FROM queue_switches WHERE name = '${queue}' AND paused_at IS NOT NULL)`;

/** $1 names. */
export const READ_SWITCHES = `SELECT ${SWITCH} FROM queue_switches WHERE name = ANY ($1::text[]) ORDER BY name DESC`;

/** Locks the switch against other changes; statements with `isRunning` may still read it. $1 name. */
export const LOCK_SWITCH = `SELECT ${SWITCH} FROM queue_switches WHERE name = $1 FOR NO KEY UPDATE`;

/** Pauses (keeps the time of the first pause) or resumes a queue. $1 name, $2 whether it is paused. */
export const SET_PAUSED = `
  UPDATE queue_switches SET paused_at = CASE WHEN $2::boolean THEN coalesce(paused_at, ${NOW}) END
  WHERE name = $1 RETURNING ${SWITCH}`;
