import { count, flag, instant, oneOf, orNull, parseStatus, rate, text, type StatusFields } from './stored-status.js';

/** A gateway's last status of a connection that a system made to it. */
export interface SystemConnectionStatus {
  readonly state: 'bound' | 'draining';
  readonly tls: boolean;
  /** Our requests that it has not answered. */
  readonly windowUsed: number;
  /** Messages received per second, average of the last 10 s. */
  readonly submitPerSecond: number;
  /** Messages answered "throttled" since it bound. */
  readonly throttled: number;
  /** Round-trip time of the last answered enquire_link; null before the first. */
  readonly enquireLinkMs: number | null;
  readonly lastError: string | null;
  /** RFC 3339. A gateway of an earlier release omits this field and the next. */
  readonly lastErrorAt?: string | null | undefined;
  /** Codes without a response since it bound. */
  readonly unanswered?: number | undefined;
}

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
