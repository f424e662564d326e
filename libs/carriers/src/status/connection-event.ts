import { isUuid, type Uuid } from '@countersign/ids';
import { count, instant, oneOf, orNull, parseStatus, text, type StatusFields } from './stored-status.js';

export const CONNECTION_EVENTS = ['bound', 'error', 'draining', 'unbound'] as const;

/** An event of a connection of a bind. Times are RFC 3339. */
export interface ConnectionEvent {
  readonly event: (typeof CONNECTION_EVENTS)[number];
  /** The first time, and the last of `times`: a repeated error is one event. */
  readonly at: string;
  readonly lastAt: string;
  readonly times: number;
  /** The host that was bound or tried; null where none was, or where `error` names it. */
  readonly host: string | null;
  readonly error: string | null;
  /** The gateway that held the connection. */
  readonly gatewayId: Uuid;
}

/** Events that are kept of one connection. */
export const MAX_EVENTS = 50;
const MAX_TEXT_CHARACTERS = 200;

type NewEvent = Omit<ConnectionEvent, 'lastAt' | 'times'>;

/** The events with a new one, oldest first. An error that was among the last errors already is counted there. */
export function withEvent(events: readonly ConnectionEvent[], added: NewEvent): readonly ConnectionEvent[] {
  const event = { ...added, host: shortened(added.host), error: shortened(added.error) };
  const repeated = event.event === 'error' ? indexOfSame(events, event) : -1;
  if (repeated === -1) return [...events, { ...event, lastAt: event.at, times: 1 }].slice(-MAX_EVENTS);
  return events.map((one, index) => (index === repeated ? { ...one, lastAt: event.at, times: one.times + 1 } : one));
}

/** The same error since the connection was last in another state; -1 for none. */
function indexOfSame(events: readonly ConnectionEvent[], { host, error, gatewayId }: NewEvent): number {
  const beforeErrors = events.findLastIndex(({ event }) => event !== 'error');
  return events.findIndex(
    (one, index) => index > beforeErrors && one.host === host && one.error === error && one.gatewayId === gatewayId,
  );
}

/** JSON of PostgreSQL holds neither a NUL nor half of a surrogate pair, and writes other control characters with six octets. */
const shortened = (value: string | null): string | null =>
  value === null ? null : Buffer.from(value.replaceAll(/\p{Cc}/gu, ' ').slice(0, MAX_TEXT_CHARACTERS)).toString('utf8');

const NO_EVENT: ConnectionEvent = {
  ...{ event: 'unbound', at: '', lastAt: '', times: 1, host: null, error: null, gatewayId: '' },
};

const FIELDS: StatusFields<ConnectionEvent> = {
  event: oneOf(CONNECTION_EVENTS),
  at: instant,
  lastAt: instant,
  times: count,
  host: orNull(text),
  error: orNull(text),
  gatewayId: (stored) => (typeof stored === 'string' && isUuid(stored) ? stored : undefined),
};

/** The stored events of a connection. An entry that no gateway writes is left out, and longer texts than theirs are cut. */
export function parseEvents(stored: unknown): ConnectionEvent[] {
  if (!Array.isArray(stored)) return [];
  return stored
    .slice(-MAX_EVENTS)
    .map((entry) => parseStatus(FIELDS, NO_EVENT, entry))
    .map((event) => ({ ...event, host: shortened(event.host), error: shortened(event.error) }))
    .filter(({ at, lastAt, gatewayId }) => at !== '' && lastAt !== '' && gatewayId !== '');
}
