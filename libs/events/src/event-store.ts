import { firstIdAt, ID_CLOCK_SLACK_MS, idBounds, lastIdAt, type Uuid } from '@countersign/ids';
import type { OwnedRow } from '@countersign/keys';
import { requireRow, type Executor } from '@countersign/postgres';
import { DispatchSnapshot } from './dispatch-snapshot.js';
import {
  APPEND_EVENTS,
  FIND_DISPATCH,
  FIND_OF_SESSIONS,
  LOCK_NAMED,
  LOCK_UNDISPATCHED,
  MARK_DISPATCHED,
  OLDEST_UNDISPATCHED,
  READ_DISPATCHED_AFTER,
  READ_EVENT_DATA,
  READ_EVENTS,
  READ_SNAPSHOT,
  READ_UNSEEN,
} from './event-store.sql.js';
import { ALWAYS_SENT, HAS_STORED_DATA, type DueEvent, type NewEvent, type StoredEvent } from './event.js';

/** The sessions and types of events, and bounds of their ids: an id contains the time of the write. */
export interface EventSearch {
  readonly sessionIds: readonly Uuid[];
  readonly types: readonly string[];
  readonly low: Uuid;
  readonly high: Uuid;
}

/** The time and transaction of a dispatch, and the oldest transaction open then; null before they were recorded. */
interface FoundDispatch {
  readonly dispatchedAt: Date;
  readonly xid: string | null;
  readonly xmin: string | null;
}

/** A position in the events of an account and mode: after an event that was dispatched at most `withinMs` ago. */
export interface DispatchPosition {
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly after: Uuid;
  readonly withinMs: number;
}

/** A position in the events of an account and mode that are not visible in `seen`: after an event that was dispatched at `at`. */
export interface UnseenCursor {
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly seen: DispatchSnapshot;
  readonly at: Date;
  readonly after: Uuid;
}

/** Events that waited longer for their dispatch are not found by `findUnseen`: it reads the partitions of this time. */
const MAX_UNDISPATCHED_MS = 86_400_000;

/** An event without its data, with the time of its dispatch. */
export type DispatchedEvent = Omit<StoredEvent, 'data'> & { readonly dispatchedAt: Date };

const STORED_TYPES = [...HAS_STORED_DATA];

const byId = (one: DueEvent, other: DueEvent): number => (one.id < other.id ? -1 : 1);

/**
 * Reads and writes event rows: the outbox. An event is written in the transaction of its change, and dispatched in
 * the transaction that creates its delivery, so that it is neither lost nor sent without its change.
 */
export class EventStore {
  /** Writes all in one statement. The webhook URL is fixed now; later edits of the account do not change it. */
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
      ALWAYS_SENT,
      events.map((event) => event.test),
    ]);
  }

  /** Marks up to `limit` undispatched events from an id on, oldest first: used by the poll, for lost notifications. */
  async markUndispatched(tx: Executor, limit: number, fromId: Uuid = firstIdAt(0)): Promise<DueEvent[]> {
    return this.#mark(tx, await tx.query<{ id: Uuid }>(LOCK_UNDISPATCHED, [limit, fromId]));
  }

  /** Marks the undispatched ones of the given events: used by a notified worker. Reads only their partitions. */
  async markNamed(tx: Executor, ids: readonly Uuid[]): Promise<DueEvent[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    return this.#mark(tx, await tx.query<{ id: Uuid }>(LOCK_NAMED, [ids, low, high]));
  }

  /** The stored data of events: JSON text by id. */
  async dataOf(db: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, string>> {
    if (ids.length === 0) return new Map();
    const { low, high } = idBounds(ids);
    const found = await db.query<{ id: Uuid; data: string }>(READ_EVENT_DATA, [ids, low, high, STORED_TYPES]);
    return new Map(found.map(({ id, data }) => [id, data]));
  }

  /** Events by id, in one statement; ids that are not there are left out. */
  async findMany(db: Executor, ids: readonly Uuid[]): Promise<Map<Uuid, StoredEvent>> {
    if (ids.length === 0) return new Map();
    const { low, high } = idBounds(ids);
    const found = await db.query<StoredEvent>(READ_EVENTS, [ids, low, high, STORED_TYPES]);
    return new Map(found.map((event) => [event.id, event]));
  }

  /**
   * The first `limit` events after a position, without their data, in order of dispatch, those whose dispatch overlapped that
   * of the position included; null when the account and mode have no such event. Events that are being dispatched are left out
   * until their commit.
   */
  async findDispatchedAfter(
    db: Executor,
    { accountId, test, after, withinMs }: DispatchPosition,
    limit: number,
  ): Promise<Omit<StoredEvent, 'data'>[] | null> {
    const [found] = await db.query<FoundDispatch>(FIND_DISPATCH, [after, accountId, test, withinMs]);
    if (found === undefined) return null;
    const { dispatchedAt, xid, xmin } = found;
    return db.query(READ_DISPATCHED_AFTER, [accountId, test, dispatchedAt, after, limit, xmin, xid]);
  }

  /** The present snapshot; `known` is an earlier one of the same process, if there is one. */
  async readSnapshot(db: Executor, known: DispatchSnapshot | null): Promise<DispatchSnapshot> {
    const { text, takenAtMs } = requireRow(await db.query<{ text: string; takenAtMs: number }>(READ_SNAPSHOT));
    return DispatchSnapshot.of(text, takenAtMs, known);
  }

  /** The position before all events that are visible in `until` and not in `seen`. */
  static unseenFrom(owner: OwnedRow, seen: DispatchSnapshot, until: DispatchSnapshot): UnseenCursor {
    const { accountId, test } = owner;
    return { accountId, test, seen, at: new Date(seen.earliestUnseenMs(until)), after: firstIdAt(0) };
  }

  /** The events after each of these positions that are visible in `until`, in order of dispatch, up to `limit` of each. */
  findUnseen(
    db: Executor,
    cursors: readonly UnseenCursor[],
    until: DispatchSnapshot,
    limit: number,
  ): Promise<DispatchedEvent[]> {
    const of = <Value>(pick: (cursor: UnseenCursor) => Value): Value[] => cursors.map(pick);
    const earliestMs = Math.min(...of(({ at }) => at.getTime()));
    return db.query(READ_UNSEEN, [
      of(({ accountId }) => accountId),
      of(({ test }) => test),
      of(({ seen }) => seen.text),
      of(({ at }) => at),
      of(({ after }) => after),
      until.text,
      limit,
      firstIdAt(earliestMs - MAX_UNDISPATCHED_MS),
      lastIdAt(until.takenAtMs + ID_CLOCK_SLACK_MS),
    ]);
  }

  /** Events of sessions, without their data, whose ids are within the bounds. */
  static findOfSessions(
    db: Executor,
    { sessionIds, types, low, high }: EventSearch,
  ): Promise<Omit<StoredEvent, 'data'>[]> {
    return db.query(FIND_OF_SESSIONS, [sessionIds, types, low, high]);
  }

  /** Age of the oldest undispatched event in seconds; 0 when there is none. */
  async oldestUndispatchedSeconds(database: Executor): Promise<number> {
    const [row] = await database.query<{ seconds: number }>(OLDEST_UNDISPATCHED);
    return Math.max(0, row?.seconds ?? 0);
  }

  async #mark(tx: Executor, locked: readonly { id: Uuid }[]): Promise<DueEvent[]> {
    if (locked.length === 0) return [];
    const ids = locked.map((row) => row.id);
    const { low, high } = idBounds(ids);
    return (await tx.query<DueEvent>(MARK_DISPATCHED, [ids, low, high, STORED_TYPES])).sort(byId);
  }
}
