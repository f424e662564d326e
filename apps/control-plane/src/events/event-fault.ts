import { EVENT_TYPES, SESSION_EVENT_TYPES, showsSession, type DueEvent } from '@countersign/events';
import { renderId, type Uuid } from '@countersign/ids';

/** Why an event is not sent. The values are labels of a metric. */
export type EventFault =
  'type' | 'session' | 'request' | 'time' | 'data' | 'account' | 'mode' | 'status' | 'url' | 'failed';

const MEANINGS: Readonly<Record<EventFault, string>> = {
  type: 'its type does not exist',
  session: 'the session that it should have does not exist, or it should have none',
  request: 'tests are dispatched by their request, and other events of an account have no URL',
  time: 'its time is out of range',
  data: 'it has no data, or too much',
  account: 'its session is of another account',
  mode: 'its session is of the other mode',
  status: 'its session is not in the state that it names',
  url: 'its URL is neither that of its session nor one of its account',
  failed: 'its dispatch throws an error that its rows cause',
};

/**
 * A row of `events` that no process of this release writes, or that cannot be dispatched. Another client of the database wrote
 * it, or a row of its session, for example with the credentials of a gateway.
 */
export class EventRefused extends Error {
  override readonly name = 'EventRefused';

  constructor(
    readonly eventId: Uuid,
    readonly fault: EventFault,
    options: ErrorOptions = {},
  ) {
    super(`${renderId('evt', eventId)} is not sent: ${MEANINGS[fault]}`, options);
  }
}

const TYPES: ReadonlySet<string> = new Set(EVENT_TYPES);
const SESSION_TYPES: ReadonlySet<string> = new Set(SESSION_EVENT_TYPES);
/** As the constraint events_occurred_at_check, which rows older than its migration may violate. */
const FIRST_MS = 0;
const LAST_MS = Date.UTC(10_000, 0, 1);

/**
 * The fault that the columns of an event show; null for none. For events that a dispatch finds in the table: the request of a
 * `webhook.test` dispatches it, so no dispatch finds one, and a `webhook.disabled` has no URL.
 */
export function faultOf(event: Omit<DueEvent, 'occurredAt'> & { readonly occurredAt: unknown }): EventFault | null {
  const { type, sessionId, occurredAt, data, webhookUrl } = event;
  if (!TYPES.has(type)) return 'type';
  if (SESSION_TYPES.has(type) !== (sessionId !== null)) return 'session';
  if (type === 'webhook.test' || (sessionId === null && webhookUrl !== null)) return 'request';
  if (!isTime(occurredAt)) return 'time';
  return data === null && !showsSession(type) ? 'data' : null;
}

/** The driver reads `infinity` as a number, and years that no Date holds as an invalid Date. */
const isTime = (at: unknown): boolean => at instanceof Date && at.getTime() >= FIRST_MS && at.getTime() < LAST_MS;
