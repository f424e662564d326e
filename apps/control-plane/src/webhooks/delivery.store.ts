import type { DueEvent, EventType } from '@countersign/events';
import { firstIdAt, idTimeMs, type Uuid } from '@countersign/ids';
import {
  Batcher,
  Database,
  DatabaseClock,
  DatabaseUnavailable,
  isCausedByRows,
  type Executor,
} from '@countersign/postgres';
import { QuickLooks } from '@countersign/postgres/due-rows';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import { OnStop } from '../composition/phases.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import type { BesideSchedule, Verdict } from './attempt.js';
import {
  BLOCK_DELIVERIES,
  CLAIM_DELIVERIES,
  COUNT_DUE_TO_HOSTS,
  INSERT_DELIVERIES,
  LOCK_DUE_DELIVERIES,
  LOCK_DUE_IDS,
  READ_DUE_BY_ACCOUNT,
  READ_DUE_DELIVERIES,
  READ_DUE_TO_HOSTS,
  NEXT_DUE,
  POSTPONE_DELIVERIES,
  RECORD_ATTEMPTS,
  RELEASE_DELIVERIES,
} from './deliveries.sql.js';
import type { ShareOwner } from './account-shares.js';
import type { Body } from './body-renderer.js';
import { DeliveryBodies } from './delivery-bodies.js';
import type { PausedHost } from './per-host.scheduler.js';
import { hostOf } from '../targets/target.js';

/** Longer than the longest attempt, so that only the leases of a process that has died run out. */
export const LEASE_SECONDS = 30;
/** Deliveries claimed in one transaction at most: a larger set costs less per delivery, but its first waits for its last. */
const MAX_SET = 250;
/** Due deliveries that one claim reads to choose from. */
const MAX_READ = 500;
/** Due deliveries, longest due first, that one claim reads past to find those. */
export const MAX_READ_PAST = 40_000;
/** Accounts whose longest due deliveries one claim reads beyond that, and how many of each. */
const MAX_ACCOUNTS_READ = 200;
const MAX_READ_OF_ACCOUNT = 20;
/** Deliveries whose lease ended lately that the same claim reads. */
const MAX_EXPIRED_READ = 200;
/** Older deliveries are rarely due: a schedule ends after a little more than a day, or twice that with Retry-After. */
const SCHEDULE_HORIZON_MS = 4 * 24 * 60 * 60 * 1000;
/** Between two claims that read beyond the horizon, for deliveries that a long stop has left there. */
const FULL_CLAIM_INTERVAL_MS = 10 * 60 * 1000;
/** The same after such a claim that found deliveries beyond the horizon or could not read all. */
const NEXT_FULL_CLAIM_MS = 2_000;
/** Deliveries postponed in one transaction at most. */
export const MAX_POSTPONED = 1_000;
/** Postponed deliveries fall due again spread over this fraction of their pause. */
const POSTPONED_SPREAD = 0.5;
const MAX_QUEUED_RECORDS = 10_000;
/** No request waits for a record. One set at a time makes the sets larger, which costs less per record. */
const RECORDS_IN_FLIGHT = 1;
/** Sets of records are this much larger than others: a record costs PostgreSQL 42 µs in a set of 64, 24 µs in one of 250. */
const RECORD_SETS = 4;
/** A lost record repeats its attempt, so a record may take all the time that is left of its lease. */
const RECORD_DEADLINE_MS = 10_000;

/**
 * A delivery whose body cannot be read is claimed again after each lease, for want of a key for instance, and given up when its
 * event is so old: that is as long as a receiver that is down is retried.
 */
const UNREADABLE_MS = 2 * 24 * 60 * 60 * 1_000;

/** How long a delivery waits whose claim failed alone. */
const FAILED_SECONDS = 300;

/** A claim failed for its rows. The next one chooses fewer, so it may be tried at once. */
export class ClaimFailed extends Error {
  override readonly name = 'ClaimFailed';
}

/** A delivery that this process may attempt until `claimedUntil`. */
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

/** The columns by which due deliveries are chosen for a claim. */
interface DueDelivery extends ShareOwner {
  readonly id: Uuid;
  readonly url: string;
}

interface LongestDue extends DueDelivery {
  readonly late: boolean;
}

interface DeliveryRow extends DueDelivery {
  readonly sessionId: Uuid | null;
  readonly type: EventType;
  readonly occurredAt: Date;
  /** JSON text of the event; left out where it was not read. */
  readonly data?: string | null;
  readonly bodySealed: Buffer | null;
  readonly attemptsMade: number;
  readonly retryAsked: boolean;
  readonly scheduleResumesAt: Date | null;
}

/** The lease of a row; `claimedUntil` is null without one. */
interface Lease {
  readonly id: Uuid;
  readonly claimedUntil: Date | null;
}

/** How many more deliveries may be claimed. */
export interface Capacity {
  readonly capacityFor: (host: string) => number;
  /** To all hosts. */
  readonly capacityForAccount: (owner: ShareOwner) => number;
}

const NO_CAPACITY: Capacity = { capacityFor: () => 0, capacityForAccount: () => 0 };

/** The hosts and accounts without capacity, and the capacity of the others. */
export interface ClaimLimits extends Capacity {
  readonly fullHosts: readonly string[];
  readonly fullAccounts: readonly ShareOwner[];
  /** Whether to look for deliveries of other accounts behind the longest due ones, if those were not all read. */
  readonly pastBacklogs?: boolean;
}

export interface Claim {
  readonly claimed: readonly ClaimedDelivery[];
  /** Hosts that have more due deliveries than they had capacity for. */
  readonly leftOver: readonly string[];
  /** Another claim at once may find more. */
  readonly more: boolean;
}

/** New deliveries: those that are claimed already, and the hosts that had capacity for none or not all of theirs. */
export type NewDeliveries = Omit<Claim, 'more'>;

interface RecordCommand {
  readonly delivery: ClaimedDelivery;
  readonly verdict: Verdict;
}

/** Stores deliveries. */
@Injectable()
export class DeliveryStore {
  private readonly recordBatcher: Batcher<RecordCommand, boolean>;
  private readonly looks = new QuickLooks();
  private nextFullClaimMs = -Infinity;
  /** Deliveries that the next claim chooses at most: halved by each that fails for its rows, doubled by each that succeeds. */
  private claimSize = MAX_SET;
  /** The last account that a claim past backlogs has read: the next one continues behind it. */
  private lastAccountRead: ShareOwner = BEFORE_ALL;

  constructor(
    private readonly database: Database,
    private readonly clock: DatabaseClock,
    private readonly bodies: DeliveryBodies,
    @Inject(ControlPlaneSettings) { batchMaxCommands }: Pick<ControlPlaneSettings, 'batchMaxCommands'>,
    @Inject(ControlPlaneMetrics)
    private readonly metrics: Pick<ControlPlaneMetrics, 'countBatch' | 'countRefusedEvent'>,
  ) {
    this.recordBatcher = new Batcher({
      name: 'delivery.record',
      limits: {
        maxBatch: RECORD_SETS * batchMaxCommands,
        maxInFlight: RECORDS_IN_FLIGHT,
        maxQueued: MAX_QUEUED_RECORDS,
        deadlineMs: RECORD_DEADLINE_MS,
      },
      keysOf: ({ delivery }) => [delivery.id],
      run: (commands) => this.recordAttempts(commands),
      onBatch: (size) => metrics.countBatch('delivery', size),
    });
  }

  /**
   * Creates the deliveries of events, in the transaction that dispatches them. Deliveries for which their host has capacity
   * are claimed at once, which saves a second transaction.
   */
  async createDeliveries(
    tx: Executor,
    events: readonly DueEvent[],
    capacity: Capacity = NO_CAPACITY,
  ): Promise<NewDeliveries> {
    const rows = events.flatMap((event) => (event.webhookUrl === null ? [] : [newRow(event, event.webhookUrl)]));
    const { chosen, leftOver } = choose(rows, capacity);
    const { bodies, refused } = await this.bodies.readBodies(tx, chosen);
    const sound = refused.size === 0 ? rows : rows.filter(({ id }) => !refused.has(id));
    return { claimed: await this.insertDeliveries(tx, sound, chosen, bodies), leftOver };
  }

  /**
   * Claims due deliveries for which their host has capacity; `createDeliveries` claims new ones. The first claim of a delivery
   * renders and seals its body: all attempts send the same octets. Rejects with ClaimFailed where a set failed for its rows.
   */
  async claimDueDeliveries(limits: ClaimLimits): Promise<Claim> {
    const { claimSize } = this;
    const horizon = this.horizon();
    const lowestId = this.lowestIdToRead(horizon);
    const longestDue = await this.readLongestDue(lowestId, limits, lowestId !== horizon);
    const due = await this.withOthers(longestDue, lowestId, limits);
    const { chosen, leftOver } = choose(due, limits, claimSize);
    if (lowestId !== horizon) this.noteFullClaim(due, horizon, limits);
    if (chosen.length === 0) return { claimed: [], leftOver, more: false };
    const claimed = await this.claimSet(chosen);
    return { claimed, leftOver, more: due.length >= MAX_READ || chosen.length === claimSize };
  }

  /** Records an attempt. False when the lease was lost: another process has or had claimed the delivery. */
  recordAttempt(delivery: ClaimedDelivery, verdict: Verdict): Promise<boolean> {
    return this.recordBatcher.add({ delivery, verdict });
  }

  /** Ends the leases of deliveries that were not attempted; they are due at once. */
  async releaseDeliveries(deliveries: readonly ClaimedDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    const ids = deliveries.map(({ id }) => id);
    const leases = deliveries.map(({ claimedUntil }) => claimedUntil);
    await this.database.query(RELEASE_DELIVERIES, [ids, leases]);
  }

  /**
   * Postpones due deliveries to paused hosts, so that claims need not read past them. They fall due again one after the other
   * after the pause of their host.
   *
   * @param most deliveries at most
   * @returns the number of postponed deliveries
   */
  postponeDeliveries(paused: readonly PausedHost[], most = MAX_POSTPONED): Promise<number> {
    return this.database.transaction(async (tx) => {
      const pauses = [paused.map(({ host }) => host), paused.map(({ leftMs }) => leftMs / 1000)];
      const values = [...pauses, this.horizon(), most, MAX_READ_PAST];
      const due = await tx.query<{ id: Uuid; seconds: number }>(READ_DUE_TO_HOSTS, values);
      if (due.length === 0) return 0;
      const rows = await tx.query<{ id: Uuid }>(LOCK_DUE_IDS, [due.map(({ id }) => id)]);
      const ids = new Set(rows.map(({ id }) => id));
      const locked = due.filter(({ id }) => ids.has(id));
      const seconds = locked.map((row) => row.seconds * (1 + POSTPONED_SPREAD * Math.random()));
      await tx.query(POSTPONE_DELIVERIES, [locked.map(({ id }) => id), seconds]);
      return locked.length;
    });
  }

  /** The number of deliveries due to these hosts, counted up to `most`, among the MAX_READ_PAST longest due ones. */
  async countDueTo(hosts: readonly string[], most: number): Promise<number> {
    const values = [hosts, this.horizon(), most, MAX_READ_PAST];
    const [row] = await this.database.query<{ due: number }>(COUNT_DUE_TO_HOSTS, values);
    return row?.due ?? 0;
  }

  /** Milliseconds until the next delivery falls due; null when none will. */
  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.database.query<{ inMs: number | null }>(NEXT_DUE, [this.horizon()]);
    return row?.inMs ?? null;
  }

  /** Makes the next claim read beyond the horizon: an old delivery may be due again. */
  lookBack(): void {
    this.nextFullClaimMs = -Infinity;
  }

  @OnStop('batchers')
  async drain(): Promise<void> {
    await this.recordBatcher.drain();
  }

  /** Behind full hosts and accounts deliveries become late unread, so no look is quick while there are any. */
  private readLongestDue(
    lowestId: Uuid,
    { fullHosts, fullAccounts }: ClaimLimits,
    all: boolean,
  ): Promise<LongestDue[]> {
    const isFull = fullHosts.length + fullAccounts.length > 0;
    const values = [MAX_READ, lowestId, fullHosts, ...idsByMode(fullAccounts), MAX_READ_PAST];
    return this.looks.look(
      all || isFull,
      (seconds) => this.database.query<LongestDue>(READ_DUE_DELIVERIES, [...values, seconds]),
      (found) => isFull || found.length >= MAX_READ || found.some(({ late }) => late),
    );
  }

  /**
   * Adds due deliveries of some accounts, from account to account, to the longest due ones where those may not be all: other
   * accounts do not wait behind the backlog of one.
   */
  private async withOthers(
    longestDue: readonly DueDelivery[],
    lowestId: Uuid,
    { fullHosts, fullAccounts, pastBacklogs = false }: ClaimLimits,
  ): Promise<readonly DueDelivery[]> {
    const mayBeAll = longestDue.length < MAX_READ && fullHosts.length + fullAccounts.length === 0;
    if (!pastBacklogs || mayBeAll) return longestDue;
    const { accountId, test } = this.lastAccountRead;
    const others = await this.database.query<DueDelivery & { readonly last: boolean }>(READ_DUE_BY_ACCOUNT, [
      ...[lowestId, accountId, test, MAX_ACCOUNTS_READ, MAX_READ_OF_ACCOUNT, MAX_EXPIRED_READ],
      ...[fullHosts, ...idsByMode(fullAccounts)],
    ]);
    this.lastAccountRead = others.find(({ last }) => last) ?? BEFORE_ALL;
    const known = new Set(longestDue.map(({ id }) => id));
    return [...others.filter(({ id, last }) => !last && !known.has(id)), ...longestDue];
  }

  private async insertDeliveries(
    tx: Executor,
    rows: readonly DeliveryRow[],
    chosen: readonly DeliveryRow[],
    bodies: ReadonlyMap<Uuid, Body>,
  ): Promise<ClaimedDelivery[]> {
    if (rows.length === 0) return [];
    const claimed = new Set(chosen);
    const leases = await tx.query<Lease>(INSERT_DELIVERIES, [
      rows.map(({ id }) => id),
      rows.map(({ accountId }) => accountId),
      rows.map(({ sessionId }) => sessionId),
      rows.map(({ type }) => type),
      rows.map(({ url }) => url),
      rows.map(({ occurredAt }) => occurredAt),
      rows.map(({ id }) => bodies.get(id)?.sealed ?? null),
      rows.map((row) => claimed.has(row)),
      LEASE_SECONDS,
      rows.map(({ test }) => test),
    ]);
    return claimedOf(chosen, leases, bodies);
  }

  /** Claims a set. One that fails for its rows is not chosen again as a whole, so that one delivery does not stop the others. */
  private async claimSet(chosen: readonly DueDelivery[]): Promise<ClaimedDelivery[]> {
    try {
      const claimed = await this.database.transaction((tx) => this.claimIn(tx, chosen));
      this.claimSize = Math.min(MAX_SET, 2 * this.claimSize);
      return claimed;
    } catch (error) {
      if (!mayBeCausedByRows(error)) throw error;
      this.claimSize = Math.max(1, Math.floor(chosen.length / 2));
      const [alone] = chosen;
      if (alone !== undefined && chosen.length === 1) await this.setAside(alone.id);
      throw new ClaimFailed(`claiming ${chosen.length} deliveries`, { cause: error });
    }
  }

  /** A delivery whose claim fails alone is claimed again after a pause, and given up as one with an unreadable body. */
  private async setAside(id: Uuid): Promise<void> {
    await this.database.transaction(async (tx) => {
      const locked = await tx.query(LOCK_DUE_IDS, [[id]]);
      if (locked.length === 0) return;
      if (idTimeMs(id) >= this.clock.nowMs() - UNREADABLE_MS) {
        await tx.query(POSTPONE_DELIVERIES, [[id], [FAILED_SECONDS]]);
        return;
      }
      await tx.query(BLOCK_DELIVERIES, [[id]]);
      this.metrics.countRefusedEvent('unreadable');
    });
  }

  /** Deliveries with unreadable bodies are not attempted: they are claimed again after the end of this lease, or given up. */
  private async claimIn(tx: Executor, chosen: readonly DueDelivery[]): Promise<ClaimedDelivery[]> {
    const wanted = chosen.map(({ id }) => id);
    const rows = await tx.query<DeliveryRow>(LOCK_DUE_DELIVERIES, [wanted]);
    if (rows.length === 0) return [];
    const { bodies, refused, unreadable } = await this.bodies.readBodies(tx, rows);
    const oldMs = this.clock.nowMs() - UNREADABLE_MS;
    const givenUp = rows.filter(({ id, occurredAt }) => unreadable.has(id) && occurredAt.getTime() < oldMs);
    const blocked = new Set([...refused, ...givenUp.map(({ id }) => id)]);
    if (blocked.size > 0) await tx.query(BLOCK_DELIVERIES, [[...blocked]]);
    for (const _ of givenUp) this.metrics.countRefusedEvent('unreadable');
    const ids = rows.flatMap(({ id }) => (blocked.has(id) ? [] : [id]));
    const sealed = ids.map((id) => bodies.get(id)?.sealed ?? null);
    const leases = await tx.query<Lease>(CLAIM_DELIVERIES, [ids, sealed, LEASE_SECONDS]);
    return claimedOf(rows, leases, bodies);
  }

  private async recordAttempts(commands: readonly RecordCommand[]): Promise<boolean[]> {
    const ids = commands.map(({ delivery }) => delivery.id);
    const recorded = await this.database.query<{ id: Uuid }>(RECORD_ATTEMPTS, [
      ids,
      commands.map(({ delivery }) => delivery.claimedUntil),
      commands.map(({ verdict }) => verdict.status),
      commands.map(({ verdict }) => verdict.nextAttemptAt),
      commands.map(({ verdict }) => JSON.stringify(verdict.attempt)),
      commands.map(({ delivery }) => delivery.beside !== null),
    ]);
    const recordedIds = new Set(recorded.map(({ id }) => id));
    return ids.map((id) => recordedIds.has(id));
  }

  private horizon(): Uuid {
    return firstIdAt(Math.max(0, this.clock.nowMs() - SCHEDULE_HORIZON_MS));
  }

  /** The horizon, so that only partitions of running schedules are read; every few minutes the lowest id of all. */
  private lowestIdToRead(horizon: Uuid): Uuid {
    return this.clock.nowMs() < this.nextFullClaimMs ? horizon : firstIdAt(0);
  }

  /** Sets the time of the next full claim: soon when older deliveries were found, or may be there unread. */
  private noteFullClaim(due: readonly DueDelivery[], horizon: Uuid, { fullHosts, fullAccounts }: ClaimLimits): void {
    const mayHaveMore =
      fullHosts.length > 0 || fullAccounts.length > 0 || due.length >= MAX_READ || due.some(({ id }) => id < horizon);
    this.nextFullClaimMs = this.clock.nowMs() + (mayHaveMore ? NEXT_FULL_CLAIM_MS : FULL_CLAIM_INTERVAL_MS);
  }
}

/** Less than every account. */
const BEFORE_ALL: ShareOwner = { accountId: firstIdAt(0), test: false };

/** Also a statement that was cancelled at its timeout: one on fewer rows may succeed. */
const mayBeCausedByRows = (error: unknown): boolean =>
  isCausedByRows(error) || (error instanceof DatabaseUnavailable && error.connectionLives);

/** The ids of live and of test ones. */
const idsByMode = (owners: readonly ShareOwner[]): [live: Uuid[], test: Uuid[]] => [
  owners.flatMap(({ accountId, test }) => (test ? [] : [accountId])),
  owners.flatMap(({ accountId, test }) => (test ? [accountId] : [])),
];

/** The new delivery of an event. */
function newRow(event: DueEvent, url: string): DeliveryRow {
  const { id, accountId, test, sessionId, type, occurredAt, data } = event;
  const initial = { bodySealed: null, attemptsMade: 0, retryAsked: false, scheduleResumesAt: null };
  return { id, accountId, test, sessionId, type, url, occurredAt, data, ...initial };
}

function claimedOf(
  rows: readonly DeliveryRow[],
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

/**
 * Chooses deliveries in their order, for each host and each account within its capacity. `leftOver`: hosts with too little
 * capacity.
 */
function choose<Row extends DueDelivery>(
  due: readonly Row[],
  { capacityFor, capacityForAccount }: Capacity,
  limit = Infinity,
): { chosen: Row[]; leftOver: string[] } {
  const capacities = new Map<string, number>();
  const accountCapacities = { live: new Map<Uuid, number>(), test: new Map<Uuid, number>() };
  const leftOver = new Set<string>();
  const chosen: Row[] = [];
  for (const row of due) {
    if (chosen.length === limit) break;
    const ofMode = row.test ? accountCapacities.test : accountCapacities.live;
    const ofAccount = ofMode.get(row.accountId) ?? capacityForAccount(row);
    ofMode.set(row.accountId, ofAccount);
    if (ofAccount <= 0) continue;
    const host = hostOf(row.url);
    const capacity = capacities.get(host) ?? capacityFor(host);
    capacities.set(host, capacity - 1);
    if (capacity > 0) {
      chosen.push(row);
      ofMode.set(row.accountId, ofAccount - 1);
    } else leftOver.add(host);
  }
  return { chosen, leftOver: [...leftOver] };
}
