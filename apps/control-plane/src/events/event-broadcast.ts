import type { PubSub, Subscription } from '@countersign/bus';
import { EVENT_TYPES, type EventType } from '@countersign/events';
import type { Uuid } from '@countersign/ids';

/** A code was sent, or something became of it: told to live channels alone, without a row of its own. */
export const UPDATED = 'verification.updated';

/** What happened, as every control plane hears it. Nothing secret travels: who needs more reads the rows. */
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
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
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

/** The message as another release may send it. */
type SentEvent = Omit<BroadcastEvent, 'test'> & { readonly test?: boolean };

/** What another release may have told in other words is left out. */
export function parseBroadcastEvent(value: unknown): BroadcastEvent[] {
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
