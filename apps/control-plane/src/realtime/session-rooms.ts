import type { Uuid } from '@countersign/postgres';
import type { Session } from '@countersign/session';
import type { EventTidings } from './tidings.js';
import type { Watcher } from './watcher.js';

/** Between two readings of a pending session (contract, Realtime). */
const LOOK_EVERY_MS = 10_000;
/** The same, once it has ended and that was not told: at first soon, and the longer it is ago the later. */
const LOOK_SOON_MS = 1_000;
const SOON_SHARE = 1 / 2;

interface Room {
  readonly watchers: Set<Watcher>;
  /** When its row is read again, by the database's clock; null while nothing more is expected of it. */
  lookAtMs: number | null;
  /** A reading has shown its end; word of it is on its way, or lost. */
  endSeen: boolean;
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
    else this.#rooms.set(id, { watchers: new Set([watcher]), lookAtMs: null, endSeen: false });
  }

  leave(id: Uuid, watcher: Watcher): void {
    const room = this.#rooms.get(id);
    room?.watchers.delete(watcher);
    if (room?.watchers.size === 0) this.#rooms.delete(id);
  }

  /**
   * A reading of the session: while it is pending there will be another. True when it has ended and the word that was on
   * its way at the reading before has not come: then it is to be looked for.
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
    const isLate = room.endSeen;
    room.endSeen = true;
    const agoMs = nowMs - (session.endedAt?.getTime() ?? nowMs);
    room.lookAtMs = nowMs + Math.min(Math.max(LOOK_SOON_MS, agoMs * SOON_SHARE), LOOK_EVERY_MS);
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
