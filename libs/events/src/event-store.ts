import { idBounds, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import {
  APPEND_EVENTS,
  LOCK_NAMED,
  LOCK_UNDISPATCHED,
  MARK_DISPATCHED,
  OLDEST_UNDISPATCHED,
  READ_EVENTS,
} from './event-store.sql.js';
import { ALWAYS_TOLD, TELLS_ITSELF, type DueEvent, type NewEvent, type StoredEvent } from './event.js';

const byId = (one: DueEvent, other: DueEvent): number => (one.id < other.id ? -1 : 1);

/**
 * The one door to event rows: the outbox. An event is written in the transaction of the change it tells of, and taken
 * in the transaction that makes a delivery of it, so it is neither lost nor told of something that did not happen.
 */
export class EventStore {
  /** Writes all in one statement. Who is told is decided here and now; later edits of the account change nothing. */
  async append(tx: Executor, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    await tx.query(APPEND_EVENTS, [
      events.map((event) => event.id),
      events.map((event) => event.type),
      events.map((event) => event.accountId),
      events.map((event) => event.sessionId),
      events.map((event) => event.occurredAt),
      events.map((event) => event.data),
      events.map((event) => event.sessionWebhookUrl),
      ALWAYS_TOLD,
      events.map((event) => event.test),
    ]);
  }

  /** Takes up to `limit` events that nobody has taken, oldest first: the relay's way, for rings that were lost. */
  async takeUndispatched(tx: Executor, limit: number): Promise<DueEvent[]> {
    return this.#mark(tx, await tx.query<{ id: Uuid }>(LOCK_UNDISPATCHED, [limit]));
  }

  /** Takes those of the named events that nobody has taken: the way of a wake-up. Touches only their partitions. */
  async takeNamed(tx: Executor, ids: readonly Uuid[]): Promise<DueEvent[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return this.#mark(tx, await tx.query<{ id: Uuid }>(LOCK_NAMED, [ids, low, high]));
  }

  /** What these events say beside the session: JSON text by id. */
  async dataOf(db: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, string>> {
    const found = [...(await this.findMany(db, ids)).values()];
    return new Map(found.flatMap(({ id, data }) => (data === null ? [] : [[id, data] as const])));
  }

  /** Events by id, in one statement; ids that are not there are left out. */
  async findMany(db: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, StoredEvent>> {
    if (ids.length === 0) return new Map();
    const { low, high } = idBounds(ids);
    const found = await db.query<StoredEvent>(READ_EVENTS, [ids, low, high, [...TELLS_ITSELF]]);
    return new Map(found.map((event) => [event.id, event]));
  }

  /** Seconds since the oldest event happened that nobody has taken; 0 when there is none. */
  async oldestUndispatchedSeconds(database: Executor): Promise<number> {
    const [row] = await database.query<{ seconds: number }>(OLDEST_UNDISPATCHED);
    return Math.max(0, row?.seconds ?? 0);
  }

  async #mark(tx: Executor, locked: readonly { id: Uuid }[]): Promise<DueEvent[]> {
    if (locked.length === 0) return [];
    const ids = locked.map((row) => row.id);
    const { low, high } = idBounds(ids);
    return (await tx.query<DueEvent>(MARK_DISPATCHED, [ids, low, high])).sort(byId);
  }
}
