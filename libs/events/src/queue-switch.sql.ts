import type { QueueName } from './queues.js';

const NOW = `date_trunc('milliseconds', clock_timestamp())`;
const SWITCH = `name AS id, paused_at AS "pausedAt"`;

/** For statements that begin something of a queue: not while it is paused. */
export const isRunning = (queue: QueueName): string =>
  `NOT EXISTS (SELECT 1 FROM queue_switches WHERE name = '${queue}' AND paused_at IS NOT NULL)`;

/** $1 names. */
export const READ_SWITCHES = `SELECT ${SWITCH} FROM queue_switches WHERE name = ANY ($1::text[]) ORDER BY name DESC`;

/** The switch kept from other changes; what it stops may still read it. $1 name. */
export const LOCK_SWITCH = `SELECT ${SWITCH} FROM queue_switches WHERE name = $1 FOR NO KEY UPDATE`;

/** Paused since the first time it was asked for, or running. $1 name, $2 whether it is paused. */
export const TURN_SWITCH = `
  UPDATE queue_switches SET paused_at = CASE WHEN $2::boolean THEN coalesce(paused_at, ${NOW}) END
  WHERE name = $1 RETURNING ${SWITCH}`;
