import { EventStore, type EventType, type NewEvent } from '@countersign/events';
import { idBounds, renderId, type Uuid } from '@countersign/ids';
import type { DatabaseClock, Executor } from '@countersign/postgres';
import { transition, type SessionTrigger } from './rules/transition.js';
import type { ApprovedBy, SessionStatus } from './rules/session.js';
import { stateOf } from './session.row.js';
import { END_SESSIONS, RECORD_MISMATCH, type EndingRow } from './session.sql.js';

/** A guarded write did not change exactly the locked rows: the transaction must not be committed. */
export class GuardedWriteError extends Error {
  override readonly name = 'GuardedWriteError';
}

/** One terminal transition, decided under the row's lock. */
export interface Ending {
  readonly row: EndingRow;
  /** Time of the transition by the database's clock. */
  readonly at: Date;
}

/** Common properties of all endings of one write. */
export interface EndingKind {
  readonly to: Exclude<SessionStatus, 'pending'>;
  readonly emits: EventType;
  readonly approvedBy: ApprovedBy | null;
}

/** A trigger for sessions; `transition` decides which of them end. */
export interface EndingCause {
  readonly trigger: SessionTrigger;
  /** The approving evidence; null for any other end. */
  readonly approvedBy: ApprovedBy | null;
}

/** The ended sessions and their events. */
export interface Ended {
  readonly ended: readonly Uuid[];
  readonly eventIds: readonly Uuid[];
}

/** Writes terminal transitions: the guarded update of the rows and their events, in the caller's transaction. */
export class SessionEndings {
  private readonly events = new EventStore();

  constructor(private readonly clock: DatabaseClock) {}

  /**
   * The one place where a session is approved, denied, cancelled or marked as expired. The caller holds the locks of the rows.
   * Returns the ids of the events written.
   */
  async endSessions(tx: Executor, kind: EndingKind, endings: readonly Ending[]): Promise<Uuid[]> {
    if (endings.length === 0) return [];
    const ids = endings.map(({ row }) => row.id);
    const moments = endings.map(({ at }) => at.toISOString());
    const values = [kind.to, kind.approvedBy, ids, moments];
    const events = endings.map(({ row, at }) => this.event(row, kind.emits, at, null));
    // Both statements are queued on the connection at once, which saves one event loop turn.
    const [updated] = await Promise.all([tx.query<{ id: Uuid }>(END_SESSIONS, values), this.events.append(tx, events)]);
    assertAllUpdated(ids, updated);
    return events.map(({ id }) => id);
  }

  /**
   * Ends the locked sessions that the rule allows to end, and leaves the others unchanged. An expiry happened at
   * `expiresAt`, not when it was noticed.
   */
  async endByRule(tx: Executor, { trigger, approvedBy }: EndingCause, rows: readonly EndingRow[]): Promise<Ended> {
    const moves = rows.flatMap((row) => {
      const move = transition(stateOf(row), trigger, row.now.getTime());
      return move.kind === 'move' ? [{ move, row, at: trigger === 'expire' ? row.expiresAt : row.now }] : [];
    });
    const [first] = moves;
    if (first === undefined) return { ended: [], eventIds: [] };
    // One trigger leads to one status only.
    const { to, emits } = first.move;
    const eventIds = await this.endSessions(tx, { to, emits, approvedBy }, moves);
    return { ended: moves.map(({ row }) => row.id), eventIds };
  }

  /** Records the first wrong sender of live sessions whose locks the caller holds, and writes its events. */
  async recordMismatch(tx: Executor, rows: readonly EndingRow[]): Promise<Uuid[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const bounds = idBounds(ids);
    const values = [ids, rows.map(({ now }) => now.toISOString()), bounds.low, bounds.high];
    const events = rows.map((row) => this.mismatchEvent(row));
    const [updated] = await Promise.all([
      tx.query<{ id: Uuid }>(RECORD_MISMATCH, values),
      this.events.append(tx, events),
    ]);
    assertAllUpdated(ids, updated);
    return events.map(({ id }) => id);
  }

  /** The event contains neither number (contract, webhooks). */
  private mismatchEvent(row: EndingRow): NewEvent {
    const data = {
      sessionId: renderId('sess', row.id),
      accountId: renderId('acct', row.accountId),
      brandId: renderId('brd', row.brandId),
    };
    return this.event(row, 'verification.sender_mismatch', row.now, JSON.stringify(data));
  }

  private event(row: EndingRow, type: EventType, occurredAt: Date, data: string | null): NewEvent {
    const { id: sessionId, accountId, test, webhookUrl: sessionWebhookUrl } = row;
    return { id: this.clock.newId(), type, accountId, test, sessionId, occurredAt, data, sessionWebhookUrl };
  }
}

function assertAllUpdated(ids: readonly Uuid[], updated: readonly { readonly id: Uuid }[]): void {
  if (updated.length !== ids.length) {
    throw new GuardedWriteError(`${ids.length} locked sessions to change, but ${updated.length} rows were updated`);
  }
}
