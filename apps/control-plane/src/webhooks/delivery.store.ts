import type { CardStore } from '@countersign/cards';
import { type DueEvent, type EventStore, type EventType, type NewEvent, showsSession } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import {
  Batcher,
  firstIdAt,
  idBounds,
  type Database,
  type DatabaseClock,
  type Executor,
  type Uuid,
} from '@countersign/postgres';
import { ENDS, type Session, type SessionRenderer, type SessionStore } from '@countersign/session';
import type { BesideSchedule, Verdict } from './attempt.js';
import {
  CLAIM_DELIVERIES,
  INSERT_DELIVERIES,
  LOCK_DUE_DELIVERIES,
  LOCK_DUE_TO_HOSTS,
  NEXT_DUE,
  POSTPONE_DELIVERIES,
  RECORD_ATTEMPTS,
  RELEASE_DELIVERIES,
} from './deliveries.sql.js';
import type { PausedHost } from './host-lanes.js';
import { hostOf } from './target.js';

/** Longer than an attempt may take, so that a lease ends only under a process that has died. */
export const LEASE_SECONDS = 30;
/** Events and deliveries in one transaction at most. */
export const MAX_SET = 100;
/** The schedule is over after a little more than a day, twice that when every receiver asks for more time. */
const SCHEDULE_HORIZON_MS = 4 * 24 * 60 * 60 * 1000;
/** Between two looks at everything, for what a long stop may have left behind the horizon. */
const FULL_LOOK_INTERVAL_MS = 10 * 60 * 1000;
/** The same, while such a look has found something or could not see all. */
const NEXT_FULL_LOOK_MS = 2_000;
/** Deliveries that are put off in one transaction at most. */
export const MAX_POSTPONED = 1_000;
/** How far apart they come back, as a part of their pause. */
const POSTPONED_SPREAD = 0.5;
const MAX_QUEUED_RECORDS = 10_000;
/** An attempt has been made and cannot be unmade: its record is given all the time that its lease has left. */
const RECORD_DEADLINE_MS = 10_000;

/** A delivery that is ours until `claimedUntil`. */
export interface ClaimedDelivery {
  /** Of the delivery and of its event. */
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly url: string;
  readonly body: string;
  readonly attemptsMade: number;
  readonly claimedUntil: Date;
  readonly beside: BesideSchedule | null;
}

interface DueRow {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly url: string;
  readonly occurredAt: Date;
  readonly bodySealed: Buffer | null;
  readonly attemptsMade: number;
  readonly retryAsked: boolean;
  readonly scheduleResumesAt: Date | null;
}

/** What may be claimed: hosts that can take nothing, and how many each of the others can. */
export interface Room {
  readonly fullHosts: readonly string[];
  readonly roomFor: (host: string) => number;
}

export interface Claim {
  readonly claimed: readonly ClaimedDelivery[];
  /** Hosts for which more is due than they had room for. */
  readonly leftOver: readonly string[];
  /** It is worth asking again at once. */
  readonly more: boolean;
}

interface RecordCommand {
  readonly delivery: ClaimedDelivery;
  readonly verdict: Verdict;
}

export interface DeliveryStoreOptions {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly events: EventStore;
  readonly sessions: SessionStore;
  readonly renderer: SessionRenderer;
  readonly cards: Pick<CardStore, 'revokeEnded'>;
  /** Told of cards that are to be taken back, once that is committed. Must not throw. */
  readonly onRevoked: (ids: readonly Uuid[]) => void;
  /** Told of events that were taken, whether or not a webhook is told, once that is committed. Must not throw. */
  readonly onTaken: (events: readonly DueEvent[]) => void;
  readonly maxBatch: number;
  readonly onBatch: (size: number) => void;
  /** A body that cannot be made or opened, for want of a key for instance. The delivery waits; the others go on. */
  readonly onUnreadable: (id: Uuid, error: unknown) => void;
}

/** The one door to delivery rows. */
export class DeliveryStore {
  private readonly records: Batcher<RecordCommand, boolean>;
  private nextFullLookMs = -Infinity;

  constructor(private readonly options: DeliveryStoreOptions) {
    this.records = new Batcher({
      name: 'delivery.record',
      maxBatch: options.maxBatch,
      maxInFlight: 2,
      maxQueued: MAX_QUEUED_RECORDS,
      deadlineMs: RECORD_DEADLINE_MS,
      keysOf: ({ delivery }) => [delivery.id],
      run: (commands) => this.recordAll(commands),
      onBatch: (size) => options.onBatch(size),
    });
  }

  /**
   * Makes deliveries of these events, in the transaction that takes them; of those that nobody took before. Every end of
   * a session comes by here, so its card is taken back here too.
   */
  dispatchNamed(ids: readonly Uuid[]): Promise<number> {
    return this.dispatch((tx) => this.options.events.takeNamed(tx, ids));
  }

  /** The same for events whose ring was lost. As many as `MAX_SET` means that more may be waiting. */
  dispatchForgotten(): Promise<number> {
    return this.dispatch((tx) => this.options.events.takeUndispatched(tx, MAX_SET));
  }

  /** Writes an event that nothing else happens with, such as a test, and makes its delivery at once. */
  async dispatchNew(event: NewEvent): Promise<void> {
    await this.dispatch(async (tx) => {
      await this.options.events.append(tx, [event]);
      return this.options.events.takeNamed(tx, [event.id]);
    });
  }

  /**
   * Claims deliveries that are due and for which there is room. Of a delivery that has no body yet it is rendered now
   * and sealed with the claim: these are the octets of every attempt.
   */
  claim(room: Room): Promise<Claim> {
    return this.options.database.transaction(async (tx) => {
      const horizon = this.horizon();
      const low = this.lowestOfInterest(horizon);
      const due = await tx.query<DueRow>(LOCK_DUE_DELIVERIES, [MAX_SET, low, room.fullHosts]);
      const { chosen, leftOver } = choose(due, room);
      if (low !== horizon) this.noteFullLook(due, horizon, room);
      if (chosen.length === 0) return { claimed: [], leftOver, more: false };
      const bodies = await this.bodiesOf(tx, chosen);
      return { claimed: await this.claimRows(tx, chosen, bodies), leftOver, more: due.length === MAX_SET };
    });
  }

  /** Records an attempt. False when the lease had been lost: somebody else has the delivery, or had it. */
  record(delivery: ClaimedDelivery, verdict: Verdict): Promise<boolean> {
    return this.records.add({ delivery, verdict });
  }

  /** Gives deliveries back that were not tried. */
  async release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const ids = deliveries.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const leases = deliveries.map(({ claimedUntil }) => claimedUntil);
    await this.options.database.query(RELEASE_DELIVERIES, [ids, leases, low, high]);
  }

  /**
   * Puts off what is due to hosts that are left alone, so that nobody has to look past it for what can be sent; at most
   * `MAX_POSTPONED`, and answers how many. They come back one after the other once their host is asked again.
   */
  postpone(paused: readonly PausedHost[]): Promise<number> {
    return this.options.database.transaction(async (tx) => {
      const asked = [paused.map(({ host }) => host), paused.map(({ leftMs }) => leftMs / 1000)];
      const values = [...asked, this.horizon(), MAX_POSTPONED];
      const due = await tx.query<{ id: Uuid; seconds: number }>(LOCK_DUE_TO_HOSTS, values);
      if (due.length === 0) return 0;
      const ids = due.map(({ id }) => id);
      const { low, high } = idBounds(ids);
      const seconds = due.map((row) => row.seconds * (1 + POSTPONED_SPREAD * Math.random()));
      await tx.query(POSTPONE_DELIVERIES, [ids, seconds, low, high]);
      return ids.length;
    });
  }

  /** Milliseconds until the next delivery falls due, null when none is waiting for its time. */
  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.options.database.query<{ inMs: number | null }>(NEXT_DUE, [this.horizon()]);
    return row?.inMs ?? null;
  }

  /** Something that is long over may be due again: the next claim looks at everything. */
  lookBack(): void {
    this.nextFullLookMs = -Infinity;
  }

  async drain(): Promise<void> {
    await this.records.drain();
  }

  private async dispatch(take: (tx: Executor) => Promise<DueEvent[]>): Promise<number> {
    const { database, cards, onRevoked, onTaken } = this.options;
    const [events, revoked] = await database.transaction(async (tx) => {
      const taken = await take(tx);
      const ended = taken.flatMap(({ type, sessionId }) => (leavesCard(type) && sessionId !== null ? [sessionId] : []));
      const [ids] = await Promise.all([cards.revokeEnded(tx, ended), this.insert(tx, taken)]);
      return [taken, ids] as const;
    });
    if (revoked.length > 0) onRevoked(revoked);
    if (events.length > 0) onTaken(events);
    return events.length;
  }

  private async insert(tx: Executor, taken: readonly DueEvent[]): Promise<void> {
    const told = taken.flatMap((event) => (event.webhookUrl === null ? [] : [{ ...event, url: event.webhookUrl }]));
    if (told.length === 0) return;
    await tx.query(INSERT_DELIVERIES, [
      told.map(({ id }) => id),
      told.map(({ accountId }) => accountId),
      told.map(({ sessionId }) => sessionId),
      told.map(({ type }) => type),
      told.map(({ url }) => url),
      told.map(({ occurredAt }) => occurredAt),
    ]);
  }

  /** The bodies of those that have none yet, by delivery. */
  private async bodiesOf(tx: Executor, rows: readonly DueRow[]): Promise<Map<Uuid, string>> {
    const without = rows.filter(({ bodySealed }) => bodySealed === null);
    const ofSessions = without.flatMap(({ type, sessionId }) =>
      showsSession(type) && sessionId !== null ? [sessionId] : [],
    );
    const found = await this.options.sessions.findMany(tx, [...new Set(ofSessions)]);
    const sessions = new Map<Uuid | null, Session>(found.map((session) => [session.id, session]));
    const others = without.filter(({ type }) => !showsSession(type)).map(({ id }) => id);
    const data = await this.options.events.dataOf(tx, others);
    const bodies = new Map<Uuid, string>();
    for (const row of without) {
      const session = showsSession(row.type) ? sessions.get(row.sessionId) : undefined;
      this.readable(row.id, () => {
        const shown = session === undefined ? data.get(row.id) : this.options.renderer.full(session);
        if (shown === undefined) throw new Error('what the event tells of is no longer there');
        bodies.set(row.id, renderBody(row, shown));
      });
    }
    return bodies;
  }

  private async claimRows(
    tx: Executor,
    rows: readonly DueRow[],
    bodies: Map<Uuid, string>,
  ): Promise<ClaimedDelivery[]> {
    const { keys } = this.options;
    const ids = rows.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const sealed = ids.map((id) => {
      const body = bodies.get(id);
      return body === undefined ? null : keys.seal('webhook-body', body, id);
    });
    const values = [ids, sealed, LEASE_SECONDS, low, high];
    const claims = await tx.query<{ id: Uuid; claimedUntil: Date }>(CLAIM_DELIVERIES, values);
    const leases = new Map(claims.map(({ id, claimedUntil }) => [id, claimedUntil]));
    const opened = new Map(bodies);
    for (const { id, bodySealed } of rows) {
      if (bodySealed === null) continue;
      this.readable(id, () => opened.set(id, keys.open('webhook-body', bodySealed, id).toString('utf8')));
    }
    return rows.flatMap((row) => {
      const claimedUntil = leases.get(row.id);
      const body = opened.get(row.id);
      return claimedUntil && body !== undefined ? [claimedOf(row, body, claimedUntil)] : [];
    });
  }

  /** One row that cannot be read must not stop the rest: it keeps its lease, and comes back when that is over. */
  private readable(id: Uuid, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.options.onUnreadable(id, error);
    }
  }

  private async recordAll(commands: readonly RecordCommand[]): Promise<boolean[]> {
    const ids = commands.map(({ delivery }) => delivery.id);
    const { low, high } = idBounds(ids);
    const recorded = await this.options.database.query<{ id: Uuid }>(RECORD_ATTEMPTS, [
      ids,
      commands.map(({ delivery }) => delivery.claimedUntil),
      commands.map(({ verdict }) => verdict.status),
      commands.map(({ verdict }) => verdict.nextAttemptAt),
      commands.map(({ verdict }) => JSON.stringify(verdict.attempt)),
      commands.map(({ delivery }) => delivery.beside !== null),
      low,
      high,
    ]);
    const done = new Set(recorded.map(({ id }) => id));
    return ids.map((id) => done.has(id));
  }

  private horizon(): Uuid {
    return firstIdAt(Math.max(0, this.options.clock.nowMs() - SCHEDULE_HORIZON_MS));
  }

  /** Usually the partitions of the schedule, now and then all of them. */
  private lowestOfInterest(horizon: Uuid): Uuid {
    return this.options.clock.nowMs() < this.nextFullLookMs ? horizon : firstIdAt(0);
  }

  /** What was left behind can be more than one look takes, or be hidden behind a full host: then the next comes soon. */
  private noteFullLook(due: readonly DueRow[], horizon: Uuid, { fullHosts }: Room): void {
    const moreMayBe = fullHosts.length > 0 || due.length === MAX_SET || due.some(({ id }) => id < horizon);
    this.nextFullLookMs = this.options.clock.nowMs() + (moreMayBe ? NEXT_FULL_LOOK_MS : FULL_LOOK_INTERVAL_MS);
  }
}

/** Whether an event ends its session in a way that a card may outlive: with the time of its session a card is over by itself. */
const leavesCard = (type: EventType): boolean => ENDS.has(type) && ENDS.get(type) !== 'expired';

/** The body of a webhook: Standard Webhooks' three members. `data` is JSON text and goes in as it is. */
export function renderBody(event: { readonly type: string; readonly occurredAt: Date }, data: string): string {
  return `{"type":"${event.type}","timestamp":"${event.occurredAt.toISOString()}","data":${data}}`;
}

function claimedOf(row: DueRow, body: string, claimedUntil: Date): ClaimedDelivery {
  const { id, accountId, url, attemptsMade, retryAsked, scheduleResumesAt } = row;
  const beside = retryAsked ? { resumesAt: scheduleResumesAt } : null;
  return { id, accountId, url, body, attemptsMade, claimedUntil, beside };
}

/** As many of each host as it has room for, in the order they are due, and the hosts that had too little. */
function choose(due: readonly DueRow[], { roomFor }: Room): { chosen: DueRow[]; leftOver: string[] } {
  const taken = new Map<string, number>();
  const leftOver = new Set<string>();
  const chosen = due.filter(({ url }) => {
    const host = hostOf(url);
    const before = taken.get(host) ?? 0;
    const fits = before < roomFor(host);
    if (fits) taken.set(host, before + 1);
    else leftOver.add(host);
    return fits;
  });
  return { chosen, leftOver: [...leftOver] };
}
