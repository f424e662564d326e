import type { CardOfferStore } from '@countersign/rcs/offers';
import type { DueEvent, EventStore, EventType, NewEvent } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import { firstIdAt, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type DatabaseClock, type Executor } from '@countersign/postgres';
import type { SessionRenderer, SessionStore } from '@countersign/session';
import { ENDS } from '@countersign/session/rules';
import type { ApprovalStore } from '../guard/approval.store.js';
import type { BesideSchedule, Verdict } from './attempt.js';
import {
  CLAIM_DELIVERIES,
  COUNT_DUE_TO_HOSTS,
  INSERT_DELIVERIES,
  LOCK_DUE_DELIVERIES,
  LOCK_DUE_TO_HOSTS,
  LOOK_FOR_DUE,
  NEXT_DUE,
  POSTPONE_DELIVERIES,
  RECORD_ATTEMPTS,
  RELEASE_DELIVERIES,
} from './deliveries.sql.js';
import { type Body, DeliveryBodies } from './delivery-bodies.js';
import type { PausedHost } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';

/** Longer than an attempt may take, so that a lease ends only under a process that has died. */
export const LEASE_SECONDS = 30;
/** Events and deliveries in one transaction at most: the more, the less each costs, and the first waits for the last. */
export const MAX_SET = 250;
/** Due deliveries that are looked at for those that can be claimed. */
const MAX_LOOKED_AT = 500;
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
/** Nobody waits for a record: one set at a time makes them larger, and planning and committing cost less for each. */
const RECORDS_IN_FLIGHT = 1;
/** And sets that are so many times larger: a record costs PostgreSQL 42 µs in a set of 64, and 24 in one of 250. */
const RECORD_SETS = 4;
/** An attempt has been made and cannot be unmade: its record is given all the time that its lease has left. */
const RECORD_DEADLINE_MS = 10_000;

/** A delivery that is ours until `claimedUntil`. */
export interface ClaimedDelivery {
  /** Of the delivery and of its event. */
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly url: string;
  readonly body: string;
  readonly attemptsMade: number;
  readonly claimedUntil: Date;
  readonly beside: BesideSchedule | null;
}

/** What a choice needs to know of a delivery. */
interface Due {
  readonly id: Uuid;
  readonly url: string;
}

interface DueRow extends Due {
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** What the event's row says beside the session, where that was read. */
  readonly data?: string;
  readonly bodySealed: Buffer | null;
  readonly attemptsMade: number;
  readonly retryAsked: boolean;
  readonly scheduleResumesAt: Date | null;
}

/** What a row says of its lease: null where it is nobody's. */
interface Lease {
  readonly id: Uuid;
  readonly claimedUntil: Date | null;
}

/** How many deliveries may be claimed for a host. */
export type RoomFor = (host: string) => number;

const NO_ROOM: RoomFor = () => 0;

/** What may be claimed: hosts that can take nothing, and how many each of the others can. */
export interface SessionEntry {
  readonly fullHosts: readonly string[];
  readonly roomFor: RoomFor;
}

export interface Claim {
  readonly claimed: readonly ClaimedDelivery[];
  /** Hosts for which more is due than they had room for. */
  readonly leftOver: readonly string[];
  /** It is worth asking again at once. */
  readonly more: boolean;
}

/** What became of events: how many were taken, and deliveries of theirs that are ours from the start. */
export interface Dispatch extends Omit<Claim, 'more'> {
  readonly taken: number;
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
  readonly cards: Pick<CardOfferStore, 'revokeCardsOfEndedSessions'>;
  /** Counts approvals for the conversion budget of codes, in the transaction that takes their events. */
  readonly approvals: Pick<ApprovalStore, 'count'>;
  /** Told of cards that are to be taken back, once that is committed. Must not throw. */
  readonly onRevoked: (ids: readonly Uuid[]) => void;
  /** Told of events that were taken, whether or not a webhook is told, once that is committed. Must not throw. */
  readonly onDispatched: (events: readonly DueEvent[]) => void;
  readonly maxBatch: number;
  readonly onBatch: (size: number) => void;
  /** A body that cannot be made or opened, for want of a key for instance. The delivery waits; the others go on. */
  readonly onUnreadable: (id: Uuid, error: unknown) => void;
}

/** The one door to delivery rows. */
export class DeliveryStore {
  private readonly bodies: DeliveryBodies;
  private readonly records: Batcher<RecordCommand, boolean>;
  private nextFullLookMs = -Infinity;

  constructor(private readonly options: DeliveryStoreOptions) {
    this.bodies = new DeliveryBodies(options);
    this.records = new Batcher({
      name: 'delivery.record',
      maxBatch: RECORD_SETS * options.maxBatch,
      maxInFlight: RECORDS_IN_FLIGHT,
      maxQueued: MAX_QUEUED_RECORDS,
      deadlineMs: RECORD_DEADLINE_MS,
      keysOf: ({ delivery }) => [delivery.id],
      run: (commands) => this.recordAll(commands),
      onBatch: (size) => options.onBatch(size),
    });
  }

  /**
   * Makes deliveries of these events, in the transaction that takes them; of those that nobody took before. Those for
   * which there is room are claimed as they are made, which spares them a second transaction. Every end of a session
   * comes by here, so its card is taken back here too.
   */
  dispatchNamed(ids: readonly Uuid[], roomFor = NO_ROOM): Promise<Dispatch> {
    return this.dispatch((tx) => this.options.events.takeNamed(tx, ids), roomFor);
  }

  /** The same for events whose ring was lost. As many as `MAX_SET` means that more may be waiting. */
  dispatchForgotten(roomFor = NO_ROOM): Promise<Dispatch> {
    return this.dispatch((tx) => this.options.events.takeUndispatched(tx, MAX_SET), roomFor);
  }

  /** Writes an event that nothing else happens with, such as a test, and makes its delivery at once. */
  async dispatchNew(event: NewEvent): Promise<void> {
    await this.dispatch(async (tx) => {
      await this.options.events.append(tx, [event]);
      return this.options.events.takeNamed(tx, [event.id]);
    }, NO_ROOM);
  }

  /**
   * Claims deliveries that are due and for which there is room. Of a delivery that has no body yet it is rendered now
   * and sealed with the claim: these are the octets of every attempt.
   */
  async claim(room: SessionEntry): Promise<Claim> {
    const { database } = this.options;
    const horizon = this.horizon();
    const low = this.lowestOfInterest(horizon);
    const due = await database.query<Due>(LOOK_FOR_DUE, [MAX_LOOKED_AT, low, room.fullHosts]);
    const { chosen, leftOver } = choose(due, room.roomFor, MAX_SET);
    if (low !== horizon) this.noteFullLook(due, horizon, room);
    if (chosen.length === 0) return { claimed: [], leftOver, more: false };
    const claimed = await database.transaction((tx) => this.claimIn(tx, chosen));
    return { claimed, leftOver, more: due.length === MAX_LOOKED_AT || chosen.length === MAX_SET };
  }

  /** Records an attempt. False when the lease had been lost: somebody else has the delivery, or had it. */
  record(delivery: ClaimedDelivery, verdict: Verdict): Promise<boolean> {
    return this.records.add({ delivery, verdict });
  }

  /** Gives deliveries back that were not tried. */
  async release(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const ids = deliveries.map(({ id }) => id);
    const leases = deliveries.map(({ claimedUntil }) => claimedUntil);
    await this.options.database.query(RELEASE_DELIVERIES, [ids, leases]);
  }

  /**
   * Puts off what is due to hosts that are left alone, so that nobody has to look past it for what can be sent; at most
   * `most`, and answers how many. They come back one after the other once their host is asked again.
   */
  postpone(paused: readonly PausedHost[], most = MAX_POSTPONED): Promise<number> {
    return this.options.database.transaction(async (tx) => {
      const asked = [paused.map(({ host }) => host), paused.map(({ leftMs }) => leftMs / 1000)];
      const values = [...asked, this.horizon(), most];
      const due = await tx.query<{ id: Uuid; seconds: number }>(LOCK_DUE_TO_HOSTS, values);
      if (due.length === 0) return 0;
      const ids = due.map(({ id }) => id);
      const seconds = due.map((row) => row.seconds * (1 + POSTPONED_SPREAD * Math.random()));
      await tx.query(POSTPONE_DELIVERIES, [ids, seconds]);
      return ids.length;
    });
  }

  /** How many deliveries are due to these hosts, counted up to `most`. */
  async dueTo(hosts: readonly string[], most: number): Promise<number> {
    const [row] = await this.options.database.query<{ due: number }>(COUNT_DUE_TO_HOSTS, [hosts, this.horizon(), most]);
    return row?.due ?? 0;
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

  private async dispatch(take: (tx: Executor) => Promise<DueEvent[]>, roomFor: RoomFor): Promise<Dispatch> {
    const { database, cards, approvals, onRevoked, onDispatched } = this.options;
    const { taken, revoked, claimed, leftOver } = await database.transaction(async (tx) => {
      const events = await take(tx);
      const told = events.flatMap((event) => (event.webhookUrl === null ? [] : [newRow(event, event.webhookUrl)]));
      const ended = events.flatMap(({ type, sessionId }) =>
        leavesCard(type) && sessionId !== null ? [sessionId] : [],
      );
      const { chosen, leftOver: others } = choose(told, roomFor);
      const [ids, bodies] = await Promise.all([
        cards.revokeCardsOfEndedSessions(tx, ended),
        this.bodies.of(tx, chosen),
        approvals.count(tx, events),
      ]);
      return { taken: events, revoked: ids, claimed: await this.insert(tx, told, chosen, bodies), leftOver: others };
    });
    if (revoked.length > 0) onRevoked(revoked);
    if (taken.length > 0) onDispatched(taken);
    return { taken: taken.length, claimed, leftOver };
  }

  private async insert(
    tx: Executor,
    rows: readonly DueRow[],
    chosen: readonly DueRow[],
    bodies: ReadonlyMap<Uuid, Body>,
  ): Promise<ClaimedDelivery[]> {
    if (rows.length === 0) return [];
    const ours = new Set(chosen);
    const made = await tx.query<Lease>(INSERT_DELIVERIES, [
      rows.map(({ id }) => id),
      rows.map(({ accountId }) => accountId),
      rows.map(({ sessionId }) => sessionId),
      rows.map(({ type }) => type),
      rows.map(({ url }) => url),
      rows.map(({ occurredAt }) => occurredAt),
      rows.map(({ id }) => bodies.get(id)?.sealed ?? null),
      rows.map((row) => ours.has(row)),
      LEASE_SECONDS,
      rows.map(({ test }) => test),
    ]);
    return claimedOf(chosen, made, bodies);
  }

  /** Those that cannot be read keep their lease without being tried, and come back when that is over. */
  private async claimIn(tx: Executor, chosen: readonly Due[]): Promise<ClaimedDelivery[]> {
    const wanted = chosen.map(({ id }) => id);
    const rows = await tx.query<DueRow>(LOCK_DUE_DELIVERIES, [wanted]);
    if (rows.length === 0) return [];
    const bodies = await this.bodies.of(tx, rows);
    const ids = rows.map(({ id }) => id);
    const sealed = ids.map((id) => bodies.get(id)?.sealed ?? null);
    const leases = await tx.query<Lease>(CLAIM_DELIVERIES, [ids, sealed, LEASE_SECONDS]);
    return claimedOf(rows, leases, bodies);
  }

  private async recordAll(commands: readonly RecordCommand[]): Promise<boolean[]> {
    const ids = commands.map(({ delivery }) => delivery.id);
    const recorded = await this.options.database.query<{ id: Uuid }>(RECORD_ATTEMPTS, [
      ids,
      commands.map(({ delivery }) => delivery.claimedUntil),
      commands.map(({ verdict }) => verdict.status),
      commands.map(({ verdict }) => verdict.nextAttemptAt),
      commands.map(({ verdict }) => JSON.stringify(verdict.attempt)),
      commands.map(({ delivery }) => delivery.beside !== null),
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
  private noteFullLook(due: readonly Due[], horizon: Uuid, { fullHosts }: SessionEntry): void {
    const moreMayBe = fullHosts.length > 0 || due.length === MAX_LOOKED_AT || due.some(({ id }) => id < horizon);
    this.nextFullLookMs = this.options.clock.nowMs() + (moreMayBe ? NEXT_FULL_LOOK_MS : FULL_LOOK_INTERVAL_MS);
  }
}

/** Whether an event ends its session in a way that a card may outlive: with the time of its session a card is over by itself. */
const leavesCard = (type: EventType): boolean => ENDS.has(type) && ENDS.get(type) !== 'expired';

/** An event as the delivery that it becomes. */
function newRow(event: DueEvent, url: string): DueRow {
  const { id, accountId, test, sessionId, type, occurredAt, data } = event;
  const unmade = { bodySealed: null, attemptsMade: 0, retryAsked: false, scheduleResumesAt: null };
  return { id, accountId, test, sessionId, type, url, occurredAt, data, ...unmade };
}

function claimedOf(
  rows: readonly DueRow[],
  leases: readonly Lease[],
  bodies: ReadonlyMap<Uuid, Body>,
): ClaimedDelivery[] {
  const ends = new Map(leases.map(({ id, claimedUntil }) => [id, claimedUntil]));
  return rows.flatMap(({ id, accountId, test, url, attemptsMade, retryAsked, scheduleResumesAt }) => {
    const claimedUntil = ends.get(id) ?? null;
    const body = bodies.get(id)?.text;
    if (claimedUntil === null || body === undefined) return [];
    const beside = retryAsked ? { resumesAt: scheduleResumesAt } : null;
    return [{ id, accountId, test, url, body, attemptsMade, claimedUntil, beside }];
  });
}

/** As many of each host as it has room for, in the order they are due, and the hosts that had too little. */
function choose<Row extends Due>(
  due: readonly Row[],
  roomFor: RoomFor,
  limit = Infinity,
): { chosen: Row[]; leftOver: string[] } {
  const left = new Map<string, number>();
  const leftOver = new Set<string>();
  const chosen: Row[] = [];
  for (const row of due) {
    if (chosen.length === limit) break;
    const host = hostOf(row.url);
    const room = left.get(host) ?? roomFor(host);
    if (room > 0) chosen.push(row);
    else leftOver.add(host);
    left.set(host, room - 1);
  }
  return { chosen, leftOver: [...leftOver] };
}
