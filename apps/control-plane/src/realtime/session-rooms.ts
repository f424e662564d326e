import type { Uuid } from '@countersign/postgres';
import type { Session } from '@countersign/session';
import type { EventTidings } from './tidings.js';
import type { Watcher } from './watcher.js';

/** Between two readings of a pending session (contract, Realtime). */
const LOOK_EVERY_MS = 10_000;
/** The same, once it has ended and its event has not been found. */
const LOOK_SOON_MS = 1_000;

interface Room {
  readonly watchers: Set<Watcher>;
  /** When its row is read again, by the database's clock; null while nothing more is expected of it. */
  lookAtMs: number | null;
}

/** Who listens to which session, and which of those sessions are to be read again when. */
export class SessionRooms {
  readonly #rooms = new Map<Uuid, Room>();

  get size(): number {
    return this.#rooms.size;
  }

  has(id: Uuid): boolean {
    return this.#rooms.has(id);
  }

  enter(id: Uuid, watcher: Watcher): void {
    const room = this.#rooms.get(id);
    if (room !== undefined) room.watchers.add(watcher);
    else this.#rooms.set(id, { watchers: new Set([watcher]), lookAtMs: null });
  }

  leave(id: Uuid, watcher: Watcher): void {
    const room = this.#rooms.get(id);
    room?.watchers.delete(watcher);
    if (room?.watchers.size === 0) this.#rooms.delete(id);
  }

  /** A reading of the session: while it is pending there will be another. */
  noteRead(session: Session, nowMs: number): void {
    const room = this.#rooms.get(session.id);
    if (room === undefined) return;
    if (session.status === 'pending') room.lookAtMs = Math.min(nowMs + LOOK_EVERY_MS, session.expiresAt.getTime());
    else if (room.lookAtMs !== null) room.lookAtMs = nowMs + LOOK_SOON_MS;
  }

  /** Nothing more is expected of a session: it has ended and that was told, or it is not there. */
  settle(id: Uuid): void {
    const room = this.#rooms.get(id);
    if (room !== undefined) room.lookAtMs = null;
  }

  /** Sessions that are to be read again, some of them. */
  due(nowMs: number, limit: number): Uuid[] {
    const ids: Uuid[] = [];
    for (const [id, { lookAtMs }] of this.#rooms) {
      if (lookAtMs === null || lookAtMs > nowMs) continue;
      ids.push(id);
      if (ids.length === limit) break;
    }
    return ids;
  }

  tell(tidings: EventTidings): void {
    const { sessionId } = tidings.told;
    const room = sessionId === null ? undefined : this.#rooms.get(sessionId);
    if (room === undefined) return;
    if (tidings.ends !== null) room.lookAtMs = null;
    for (const watcher of room.watchers) watcher.tell(tidings);
  }
}
