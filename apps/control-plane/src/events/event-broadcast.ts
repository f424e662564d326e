import type { PubSub, Subscription } from '@countersign/bus';
import { EVENT_TYPES, type EventType } from '@countersign/events';
import type { Uuid } from '@countersign/ids';

/** A code was sent, or something became of it: told to live channels alone, without a row of its own. */
export const UPDATED = 'verification.updated';

/**
 * An event as every control plane receives it. Nothing secret travels, and nothing in it is to be trusted: whoever writes
 * to the bus's store can publish any. A receiver reads the rows of the event and its session before it acts.
 */
export interface BroadcastEvent {
  /** Of the event's row; of no row where the type is `verification.updated`. */
  readonly id: Uuid;
  readonly type: EventType | typeof UPDATED;
  /** Null where it tells of an account. */
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid;
  /** Whether the event is of test mode; null from an older release, which does not send it. */
  readonly test: boolean | null;
  /** When it happened, as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
}

const TOPIC = 'events';
/** More than any release publishes in one message; further ones are left out. */
const MAX_EVENTS = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TYPES: ReadonlySet<string> = new Set([...EVENT_TYPES, UPDATED]);

/**
 * Where control planes tell each other of events, after the commit that makes them known: once for each set. A hint, as
 * all that goes over the bus: a message may be lost, and whoever relies on it also looks at the rows.
 */
export class EventBroadcast {
  constructor(private readonly bus: Pick<PubSub, 'publish' | 'subscribe'>) {}

  /** Never throws, never waits. This process hears it too. */
  publish(events: readonly BroadcastEvent[]): void {
    if (events.length > 0) this.bus.publish(TOPIC, [...events]);
  }

  /** Hears every set; its `ready` settles once sets that are told from then on will be heard. */
  onEvents(hear: (events: readonly BroadcastEvent[]) => void): Subscription {
    return this.bus.subscribe(TOPIC, (message) => {
      const told = parseBroadcastEvent(message.json());
      if (told.length > 0) hear(told);
    });
  }
}

/**
 * The events of a message. Entries of another form, as another release may send them, are left out; so are members that
 * are not known.
 */
export function parseBroadcastEvent(value: unknown): BroadcastEvent[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_EVENTS).flatMap((each: unknown) => eventOf(each) ?? []);
}

function eventOf(value: unknown): BroadcastEvent | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, type, sessionId, accountId, test = null, at }: Partial<Record<keyof BroadcastEvent, unknown>> = value;
  if (!isUuid(id) || !isUuid(accountId) || !(sessionId === null || isUuid(sessionId))) return null;
  if (!isType(type) || !(test === null || typeof test === 'boolean') || !isTime(at)) return null;
  return { id, type, sessionId, accountId, test, at };
}

const isUuid = (value: unknown): value is Uuid => typeof value === 'string' && UUID.test(value);

const isType = (value: unknown): value is BroadcastEvent['type'] => typeof value === 'string' && TYPES.has(value);

/** `Date.parse` alone also accepts other forms, some of them with any text in them. */
function isTime(value: unknown): value is string {
  if (typeof value !== 'string' || !TIME.test(value)) return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString() === value;
}
