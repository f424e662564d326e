import type { SystemConnectionStatus } from './system-connection.store.js';
import { count, flag, instant, oneOf, orNull, parseStatus, rate, text, type StatusFields } from './stored-status.js';

const FIELDS: StatusFields<SystemConnectionStatus> = {
  state: oneOf(['bound', 'draining']),
  tls: flag,
  windowUsed: count,
  submitPerSecond: rate,
  throttled: count,
  enquireLinkMs: orNull(rate),
  lastError: orNull(text),
  lastErrorAt: orNull(instant),
  unanswered: count,
};

const BOUND: SystemConnectionStatus = {
  state: 'bound',
  tls: false,
  windowUsed: 0,
  submitPerSecond: 0,
  throttled: 0,
  enquireLinkMs: null,
  lastError: null,
};

/** The status in `system_connections`: unchecked JSON. */
export const parseSystemConnectionStatus = (stored: unknown): SystemConnectionStatus =>
  parseStatus(FIELDS, BOUND, stored);
