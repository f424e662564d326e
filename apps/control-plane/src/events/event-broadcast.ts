import type { PubSub, Subscription } from '@countersign/bus';
import { EVENT_TYPES, type EventType } from '@countersign/events';
import type { Uuid } from '@countersign/ids';

/** A code was sent, or its delivery changed: broadcast to realtime channels only, without an event row. */
export const UPDATED = 'verification.updated';

/** An event as it is broadcast to all control planes. It holds nothing secret: consumers read the rows. */
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

const TOPIC = 'events';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TYPES: ReadonlySet<string> = new Set([...EVENT_TYPES, UPDATED]);

/**
 * Broadcasts committed events to all control planes, one message per set. Messages may be lost: consumers also poll the rows.
 */
export class EventBroadcast {
  constructor(private readonly bus: Pick<PubSub, 'publish' | 'subscribe'>) {}

  /** Never throws, never waits. This process receives the events too. */
  publish(events: readonly BroadcastEvent[]): void {
    if (events.length > 0) this.bus.publish(TOPIC, [...events]);
  }

  /** Subscribes to all sets; `ready` settles once every set published from then on is received. */
  onEvents(listener: (events: readonly BroadcastEvent[]) => void): Subscription {
    return this.bus.subscribe(TOPIC, (message) => {
      const events = parseBroadcastEvents(message.json());
      if (events.length > 0) listener(events);
    });
  }
}

/** An event as other releases may send it. */
type SentEvent = Omit<BroadcastEvent, 'test'> & { readonly test?: boolean };

/** Parses a message; events of other releases in another format are left out. */
export function parseBroadcastEvents(value: unknown): BroadcastEvent[] {
  return Array.isArray(value) ? value.filter(isSent).map((sent) => ({ ...sent, test: sent.test ?? null })) : [];
}

const isUuid = (value: unknown): value is Uuid => typeof value === 'string' && UUID.test(value);

function isSent(value: unknown): value is SentEvent {
  if (typeof value !== 'object' || value === null) return false;
  if (!('id' in value && 'type' in value && 'sessionId' in value && 'accountId' in value && 'at' in value))
    return false;
  const { id, type, sessionId, accountId, at } = value;
  return (
    isUuid(id) &&
    typeof type === 'string' &&
    TYPES.has(type) &&
    (sessionId === null || isUuid(sessionId)) &&
    isUuid(accountId) &&
    (!('test' in value) || typeof value.test === 'boolean') &&
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at))
  );
}
