import type { Uuid } from '@countersign/postgres';
import type { Session } from '@countersign/session';
import type { EventTidings } from './tidings.js';
import type { Watcher } from './watcher.js';

/** Between two readings of a pending session (contract, Realtime). */
const LOOK_EVERY_MS = 10_000;
/** Word of an end comes within this time, of an expiry too, which is swept every second; later it is lost. */
const LATE_MS = 2_000;
/** What was looked for and not found is looked for again: the longer it is ago, the later. */
const AGAIN_SHARE = 1 / 2;

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

  /**
   * A reading of the session: while it is pending there will be another. True when it has ended so long ago that word of
   * it is not on its way but lost: then its event is to be looked for.
   */
  noteRead(session: Session, nowMs: number): boolean {
    const room = this.#rooms.get(session.id);
    if (room === undefined) return false;
    if (session.status === 'pending') {
      room.lookAtMs = Math.min(nowMs + LOOK_EVERY_MS, session.expiresAt.getTime());
      return false;
    }
    // Told while it was read.
    if (room.lookAtMs === null) return false;
    const endedMs = session.endedAt?.getTime() ?? nowMs;
    const agoMs = nowMs - endedMs;
    const isLate = agoMs >= LATE_MS;
    room.lookAtMs = isLate ? nowMs + Math.min(agoMs * AGAIN_SHARE, LOOK_EVERY_MS) : endedMs + LATE_MS;
    return isLate;
  }

  /** Nothing more is expected of a session: it has ended and that was told, or it is not there. */
  settle(id: Uuid): void {
    const room = this.#rooms.get(id);
    if (room !== undefined) room.lookAtMs = null;
  }

  /** Sessions that are to be read again. */
  due(nowMs: number): Uuid[] {
    const ids: Uuid[] = [];
    for (const [id, { lookAtMs }] of this.#rooms) if (lookAtMs !== null && lookAtMs <= nowMs) ids.push(id);
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
