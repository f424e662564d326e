import { PubSub, TOPICS, type Subscription } from '@countersign/bus';
import { EVENT_TYPES, type EventType, type StoredEvent } from '@countersign/events';
import { isUuid, type Uuid } from '@countersign/ids';
import { Inject, Injectable } from '@nestjs/common';

/** A code was sent, or its delivery changed: broadcast to realtime channels only, without an event row. */
export const UPDATED = 'verification.updated';

/**
 * An event as it is broadcast to all control planes. It holds nothing secret, and consumers must not trust it: anyone with access
 * to the store of the bus can publish. Consumers read the rows of the event and its session before they act.
 */
export interface BroadcastEvent {
  /** Id of the event row; without a row for `verification.updated`. */
  readonly id: Uuid;
  readonly type: EventType | typeof UPDATED;
  /** Null for an event of an account. */
  readonly sessionId: Uuid | null;
  readonly accountId: Uuid;
  /** Whether the event is of test mode; null from an older release, which does not send it. */
  readonly test: boolean | null;
  /** Time of the event, as `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
}

/** More than any release publishes in one message; further ones are left out. */
const MAX_EVENTS = 1_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TYPES: ReadonlySet<string> = new Set([...EVENT_TYPES, UPDATED]);

/**
 * Broadcasts committed events to all control planes, one message per set. Messages may be lost: consumers also poll the rows.
 */
@Injectable()
export class EventBroadcast {
  constructor(@Inject(PubSub) private readonly bus: Pick<PubSub, 'publish' | 'subscribe'>) {}

  /** Never throws, never waits. This process receives the events too. */
  publish(events: readonly BroadcastEvent[]): void {
    if (events.length > 0) this.bus.publish(TOPICS.events, events);
  }

  /** Subscribes to all sets; `ready` settles once every set published from then on is received. */
  onEvents(listener: (events: readonly BroadcastEvent[]) => void): Subscription {
    return this.bus.subscribe(TOPICS.events, (message) => {
      const events = parseBroadcastEvents(message.json());
      if (events.length > 0) listener(events);
    });
  }
}

/** Parses a message. Entries in another format, as other releases may send them, and unknown members are left out. */
export function parseBroadcastEvents(value: unknown): BroadcastEvent[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_EVENTS).flatMap((each: unknown) => eventOf(each) ?? []);
}

/** Events of rows. Rows that no process of this release writes are left out. */
export const broadcastsOf = (rows: readonly Omit<StoredEvent, 'data'>[]): BroadcastEvent[] =>
  // The driver reads times that no date holds as numbers or invalid dates.
  rows.flatMap((row) => eventOf({ ...row, at: new Date(row.occurredAt).toJSON() }) ?? []);

function eventOf(value: unknown): BroadcastEvent | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, type, sessionId, accountId, test = null, at }: Partial<Record<keyof BroadcastEvent, unknown>> = value;
  if (!isUuid(id) || !isUuid(accountId) || !(sessionId === null || isUuid(sessionId))) return null;
  if (!isType(type) || !(test === null || typeof test === 'boolean') || !isTime(at)) return null;
  return { id, type, sessionId, accountId, test, at };
}

const isType = (value: unknown): value is BroadcastEvent['type'] => typeof value === 'string' && TYPES.has(value);

/** `Date.parse` alone also accepts other formats, some of them with arbitrary text. */
function isTime(value: unknown): value is string {
  if (typeof value !== 'string' || !TIME.test(value)) return false;
  const time = new Date(value);
  return !Number.isNaN(time.getTime()) && time.toISOString() === value;
}
