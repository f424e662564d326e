import { isTestMode, ownsRow, type Mode, type ServerKeys, type Tenant } from '@countersign/keys';
import { firstIdAt, ID_CLOCK_SLACK_MS, idBounds, idTimeMs, lastIdAt, type Uuid } from '@countersign/ids';
import { Batcher, type Database, type DatabaseClock, type Executor } from '@countersign/postgres';
import { noStatement, statement, type Statements } from '@countersign/postgres/statements';
import { QuickLooks } from '@countersign/postgres/due-rows';
import { dayRanges } from '@countersign/postgres/partitions';
import type { FoundToken } from './tokens/find-tokens.js';
import { judgeInbound, type InboundCase, type InboundVerdict } from './rules/judge-inbound.js';
import { tokenDigests } from './tokens/token.js';
import { SessionCodes, type CheckResult, type CodeReadiness, type ReadyForCode } from './session-codes.js';
import { SessionEndings, type Ended, type EndingKind } from './session-ending.js';
import type { SessionListener } from './session-listener.js';
import { SessionList, type SessionPage, type SessionQuery } from './session-list.js';
import { createdSession, insertRow, lockedSession, sessionOf } from './session.row.js';
import type { CreateCommand, CreateSession } from './session.row.js';
import {
  SET_CHANNEL_RCS,
  CONSUME_SESSIONS,
  FIND_SESSION,
  FIND_SESSIONS,
  INSERT_SESSIONS,
  LOCK_BY_DIGEST,
  LOCK_DUE,
  LOCK_SESSIONS,
  LOCK_TO_END,
  type DigestRow,
  type EndingRow,
  type TimedRow,
} from './session.sql.js';
import type { Session } from './rules/session.js';
import { settledRows } from './settled-rows.js';

/**
 * For this time a token is recognised as expired (contract, MO matching); older ones are unknown. No session lives
 * longer.
 */
const TOKEN_MEMORY_MS = 24 * 60 * 60 * 1000;
/**
 * Interval of sweeps over every partition, which find sessions that a long outage left outside the ordinary bounds.
 */
const FULL_SWEEP_INTERVAL_MS = 10 * 60 * 1000;

const DEFAULT_MAX_BATCH = 64;
const DEFAULT_MAX_IN_FLIGHT = 2;
const MAX_QUEUED_COMMANDS = 4096;

const CANCELLATION = { trigger: 'cancel', approvedBy: null } as const;
const EXPIRY = { trigger: 'expire', approvedBy: null } as const;
const APPROVED_BY_MO: EndingKind = { to: 'approved', emits: 'verification.completed', approvedBy: 'mo' };

/** An inbound SMS before it is matched. Verdicts are in the order of the evidence. */
export interface InboundEvidence extends Omit<InboundCase, 'digests'> {
  readonly tokens: readonly FoundToken[];
}

export interface SessionStoreOptions {
  readonly database: Pick<Database, 'query' | 'reports' | 'transaction'>;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly listener: SessionListener;
  readonly batch?: {
    readonly maxBatch: number;
    readonly maxInFlight: number;
    /** Called after each transaction with its number of commands. */
    readonly onBatch?: (name: SessionBatch, size: number) => void;
  };
}

/** Operations that are batched. */
export type SessionBatch = 'create' | 'find' | 'cancel' | 'check' | 'consume';

interface NamedSession {
  readonly tenant: Tenant;
  readonly id: Uuid;
}

interface ConsumeCommand extends NamedSession {
  /** Id of this consumption: a repeated run of the same command recognises its own write. */
  readonly consumptionId: Uuid;
}

/** Number of sessions per mode that a sweep marked as expired. */
export type ExpiredCounts = Readonly<Record<Mode, number>>;

export type CancelResult = 'done' | 'unknown';

export type ConsumeResult =
  | { readonly kind: 'consumed'; readonly session: Session }
  /** Unknown, or of another tenant. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_approved'; readonly session: Session }
  | { readonly kind: 'consumed_before' };

/** A tap on the card, for several sessions at once. */
export type Decision = { readonly mode: Mode; readonly ids: readonly Uuid[] } & (
  { readonly trigger: 'approve'; readonly approvedBy: 'rcs' } | { readonly trigger: 'deny'; readonly approvedBy: null }
);

/**
 * The only writer of session rows. Every change of state is decided by `transition` under the row's lock, written
 * with a guard on the old status, and adds its event row in the same transaction; so a session ends exactly once.
 */
export class SessionStore {
  private readonly endings: SessionEndings;
  private readonly creates: Batcher<CreateCommand, Session>;
  private readonly finds: Batcher<NamedSession, Session | null>;
  private readonly cancels: Batcher<NamedSession, CancelResult>;
  private readonly consumes: Batcher<ConsumeCommand, ConsumeResult>;
  private readonly codes: SessionCodes;
  private readonly listing: SessionList;
  private sweptAllAtMs = 0;
  private readonly sweeps = new QuickLooks();

  constructor(private readonly options: SessionStoreOptions) {
    const { maxBatch = DEFAULT_MAX_BATCH, maxInFlight = DEFAULT_MAX_IN_FLIGHT, onBatch } = options.batch ?? {};
    const limits = { maxBatch, maxInFlight, maxQueued: MAX_QUEUED_COMMANDS };
    this.endings = new SessionEndings(options.clock);
    this.creates = new Batcher({
      name: 'session.create',
      limits,
      keysOf: ({ id }) => [id],
      run: (commands) => this.insert(commands),
      onBatch: (size) => onBatch?.('create', size),
    });
    this.finds = new Batcher({
      name: 'session.find',
      limits,
      keysOf: () => [],
      run: (commands) => this.findAll(commands),
      onBatch: (size) => onBatch?.('find', size),
    });
    this.cancels = new Batcher({
      name: 'session.cancel',
      limits,
      keysOf: ({ id }) => [id],
      run: (commands) => this.cancelAll(commands),
      onBatch: (size) => onBatch?.('cancel', size),
    });
    this.consumes = new Batcher({
      name: 'session.consume',
      limits,
      keysOf: ({ id }) => [id],
      run: (commands) => this.consumeAll(commands),
      onBatch: (size) => onBatch?.('consume', size),
    });
    this.codes = new SessionCodes(options.database, options.keys, this.endings, options.listener, {
      limits,
      onBatch: (size) => onBatch?.('check', size),
    });
    this.listing = new SessionList(options.database.reports, options.clock);
  }

  /**
   * Creates a session. Concurrent commands share one statement; there is no event. With the id of an earlier attempt
   * whose response was lost, it returns that session: nothing is created twice.
   */
  create(session: CreateSession, id: Uuid = this.options.clock.newId()): Promise<Session> {
    return this.creates.add({ id, session });
  }

  /** The current state of a session of this tenant, or null: sessions of another account or mode count as unknown. */
  async find(tenant: Tenant, id: Uuid): Promise<Session | null> {
    if (this.isRecentId(id)) return this.finds.add({ tenant, id });
    const { database } = this.options;
    const [row] = await database.query<TimedRow>(FIND_SESSION, [id, tenant.accountId, isTestMode(tenant)]);
    const [settled] = row === undefined ? [] : await settledRows(database, [row]);
    return settled === undefined ? null : sessionOf(settled);
  }

  /**
   * Current state of sessions of any tenant, in no particular order; missing ids are left out. For readers that have
   * the ids from rows of the same tenant.
   */
  async findMany(db: Executor, ids: readonly Uuid[]): Promise<Session[]> {
    if (ids.length === 0) return [];
    const { low, high } = idBounds(ids);
    const rows = await db.query<TimedRow>(FIND_SESSIONS, [ids, low, high]);
    return rows.map(sessionOf);
  }

  /**
   * One page of a tenant's sessions in their current state, newest first. A pending session past `expiresAt` is
   * expired, for the filter too.
   */
  list(tenant: Tenant, query: SessionQuery): Promise<SessionPage> {
    return this.listing.page(tenant, query);
  }

  /** Cancels a live session; an ended one, or one past `expiresAt`, stays unchanged and returns `done` as well. */
  async cancel(tenant: Tenant, id: Uuid): Promise<CancelResult> {
    if (this.isRecentId(id)) return this.cancels.add({ tenant, id });
    const [result = 'unknown'] = await this.cancelAll([{ tenant, id }]);
    return result;
  }

  /** Consumes an approved session: exactly one call ever returns `consumed` (contract, Consume). */
  async consume(tenant: Tenant, id: Uuid): Promise<ConsumeResult> {
    const command = { tenant, id, consumptionId: this.options.clock.newId() };
    if (this.isRecentId(id)) return this.consumes.add(command);
    const [result = NOT_FOUND] = await this.consumeAll([command]);
    return result;
  }

  /**
   * Judges inbound messages and approves the sessions of one mode that they match, in the caller's transaction; a
   * token of the other mode counts as unknown. `record` stores the messages with their fates in the same transaction:
   * it gets the verdicts, in the order of the evidence, and its statements are pipelined with the approvals. The
   * caller notifies the dispatcher of `eventIds` after its commit. A message is matched only if the guarded write
   * approved its session, else this throws.
   */
  async matchInbound(
    tx: Executor,
    mode: Mode,
    evidence: readonly InboundEvidence[],
    record: (verdicts: readonly InboundVerdict[]) => Promise<void> = nothingToRecord,
  ): Promise<{ verdicts: InboundVerdict[]; eventIds: string[] }> {
    // Written field by field, because a rest pattern costs five times as much and this runs for every SMS.
    const cases = evidence.map(({ tokens, senders, ambiguousSender = false, trusted }) => ({
      digests: tokens.flatMap((token) => this.digests(token)),
      senders,
      ambiguousSender,
      trusted,
    }));
    const rows = await this.lockByDigest(
      tx,
      mode,
      new Set(cases.flatMap(({ trusted, digests }) => (trusted ? digests : []))),
    );
    const { verdicts, approve, mismatch } = judgeInbound(
      cases,
      new Map(rows.map((row) => [row.digest, lockedSession(row)])),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const approved = pick(byId, approve).map((row) => ({ row, at: row.now }));
    // Sent at once and executed in this order: a session may get a wrong sender and then the right one.
    const [mismatchEvents, approvalEvents] = await Promise.all([
      this.endings.recordMismatch(tx, pick(byId, mismatch)),
      this.endings.endSessions(tx, APPROVED_BY_MO, approved),
      record(verdicts),
    ]);
    return { verdicts: [...verdicts], eventIds: [...mismatchEvents, ...approvalEvents] };
  }

  /**
   * Locks a session that is to send a code and decides whether it may, before its destination is checked: refusals in
   * the contract's order. `codeLimit`, which is checked after the destination, has the session's own limits.
   */
  prepareCode(tx: Executor, tenant: Tenant, id: Uuid): Promise<CodeReadiness> {
    return this.codes.prepare(tx, tenant, id);
  }

  /** Adds a code to the session that `prepareCode` locked in the same transaction, after `codeLimit` allowed it. */
  addCode(tx: Executor, ready: ReadyForCode, code: string): Promise<void> {
    return this.codes.add(tx, ready, code);
  }

  /**
   * Checks a well-formed code and approves the session if the code is one of those sent. The attempt is counted
   * before the comparison; concurrent checks share a transaction, checks of one session run one after the other.
   */
  checkCode(tenant: Tenant, id: Uuid, code: string): Promise<CheckResult> {
    return this.isRecentId(id) ? this.codes.check(tenant, id, code) : this.codes.checkAlone(tenant, id, code);
  }

  /**
   * Approves or denies pending sessions of one mode by a tap on their card, with their events, in the caller's
   * transaction. The caller notifies the dispatcher of `eventIds` after its commit.
   */
  async applyCardDecision(tx: Executor, { mode, ids, ...cause }: Decision): Promise<Ended> {
    if (ids.length === 0) return { ended: [], eventIds: [] };
    const { low, high } = idBounds(ids);
    const rows = await tx.query<EndingRow>(LOCK_TO_END, [ids, low, high]);
    const ofMode = rows.filter(({ test }) => test === isTestMode({ mode }));
    return this.endings.endByRule(tx, cause, ofMode);
  }

  /**
   * Sets the channel of live sessions to RCS whose card was delivered while their request waited, in the caller's
   * transaction. Run it before `applyCardDecision`, so that the event of a tap has the channel too. Its value is the changed ids.
   * `tapped` are the ids that `applyCardDecision` gets next: all are locked here, because two statements would not lock in id
   * order.
   */
  markRcsDelivered(ids: readonly Uuid[], tapped: readonly Uuid[] = []): Statements<Uuid[]> {
    const all = [...new Set([...ids, ...tapped])];
    if (all.length === 0) return noStatement([]);
    const { low, high } = idBounds(all);
    const idsOf = (rows: readonly { readonly id: Uuid }[]): Uuid[] => rows.map(({ id }) => id);
    return statement(SET_CHANNEL_RCS, [all, low, high, ids], idsOf);
  }

  /**
   * Marks sessions past `expiresAt` as expired and writes their events; readers already see them as expired. Several
   * processes may run it concurrently.
   *
   * @param limit maximum number in this transaction
   * @returns how many of each mode; a total equal to the limit means that more may be due
   */
  async expireDueSessions(limit: number): Promise<ExpiredCounts> {
    const { database, clock } = this.options;
    const nowMs = clock.nowMs();
    const everything = nowMs - this.sweptAllAtMs >= FULL_SWEEP_INTERVAL_MS;
    const low = firstIdAt(everything ? 0 : nowMs - TOKEN_MEMORY_MS);
    const next = this.firstFutureId(nowMs);
    const work = database.transaction(async (tx) => {
      const rows = await this.sweeps.look(everything, (seconds) =>
        tx.query<EndingRow>(LOCK_DUE, [limit, low, next, seconds]),
      );
      const { eventIds: expired } = await this.endings.endByRule(tx, EXPIRY, rows);
      const test = rows.filter((row) => row.test).length;
      return [{ live: rows.length - test, test }, expired] as const;
    });
    const [counts, eventIds] = await work.catch((error: unknown) => {
      // The next sweep looks at everything: sessions expire during an outage.
      this.sweptAllAtMs = 0;
      throw error;
    });
    if (everything && counts.live + counts.test < limit) this.sweptAllAtMs = nowMs;
    this.notifyEvents(eventIds);
    return counts;
  }

  /** Waits until every accepted command has been answered. */
  async drain(): Promise<void> {
    const batchers = [this.creates, this.finds, this.cancels, this.consumes, this.codes];
    await Promise.all(batchers.map((each) => each.drain()));
  }

  private async insert(commands: readonly CreateCommand[]): Promise<Session[]> {
    const { database, keys } = this.options;
    const rows = commands.map((command) => insertRow(keys, command));
    const inserted = await database.query<{ id: Uuid; createdAt: Date }>(INSERT_SESSIONS, [JSON.stringify(rows)]);
    const times = new Map(inserted.map(({ id, createdAt }) => [id, createdAt]));
    // Created by an earlier attempt: returned as created, whatever happened to it, or to its brand, since then.
    const there = commands.filter(({ id }) => !times.has(id)).map(({ id }) => id);
    const earlier = new Map((await this.findMany(database, there)).map((session) => [session.id, session]));
    return commands.map((command) => {
      const createdAt = times.get(command.id);
      if (createdAt !== undefined) return createdSession(keys, command, createdAt);
      const session = earlier.get(command.id);
      if (session === undefined) throw new Error('a session was neither inserted nor found');
      return { ...session, status: 'pending', endedAt: null };
    });
  }

  private async findAll(commands: readonly NamedSession[]): Promise<(Session | null)[]> {
    const ids = commands.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const { database } = this.options;
    const rows = await settledRows(database, await database.query<TimedRow>(FIND_SESSIONS, [ids, low, high]));
    const found = new Map(rows.map((row) => [row.id, sessionOf(row)]));
    return commands.map(({ tenant, id }) => {
      const session = found.get(id);
      return session !== undefined && ownsRow(tenant, session) ? session : null;
    });
  }

  private async cancelAll(commands: readonly NamedSession[]): Promise<CancelResult[]> {
    const ids = commands.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const [owners, eventIds] = await this.options.database.transaction(async (tx) => {
      const rows = await tx.query<EndingRow>(LOCK_TO_END, [ids, low, high]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const own = commands.filter((command) => isOwn(command, byId.get(command.id)));
      const locked = pick(
        byId,
        own.map(({ id }) => id),
      );
      const { eventIds: cancelled } = await this.endings.endByRule(tx, CANCELLATION, locked);
      return [new Set(own), cancelled] as const;
    });
    this.notifyEvents(eventIds);
    return commands.map((command) => (owners.has(command) ? 'done' : 'unknown'));
  }

  private async consumeAll(commands: readonly ConsumeCommand[]): Promise<ConsumeResult[]> {
    const ids = commands.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    return this.options.database.transaction(async (tx) => {
      const rows = await tx.query<TimedRow>(LOCK_SESSIONS, [ids, low, high]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      const approved = commands.filter((command) => {
        const row = byId.get(command.id);
        return isOwn(command, row) && row?.status === 'approved';
      });
      const values = [approved.map(({ id }) => id), approved.map(({ consumptionId }) => consumptionId), low, high];
      const updated = approved.length === 0 ? [] : await tx.query<{ id: Uuid }>(CONSUME_SESSIONS, values);
      const consumed = new Set(updated.map(({ id }) => id));
      return commands.map((command) => consumeResult(command, byId.get(command.id), consumed));
    });
  }

  private async lockByDigest(tx: Executor, mode: Mode, digests: ReadonlySet<string>): Promise<DigestRow[]> {
    if (digests.size === 0) return [];
    const nowMs = this.options.clock.nowMs();
    const octets = [...digests].map((digest) => Buffer.from(digest, 'hex'));
    const days = dayRanges(nowMs - TOKEN_MEMORY_MS, nowMs + ID_CLOCK_SLACK_MS);
    // One statement for each day, which a connection keeps, in the order of the ids; all are sent at once.
    const rows = await Promise.all(
      days.map(({ fromMs, toMs }) =>
        tx.query<DigestRow>(LOCK_BY_DIGEST, [octets, firstIdAt(fromMs), lastIdAt(toMs), isTestMode({ mode })]),
      ),
    );
    return rows.flat();
  }

  private digests({ slug, token }: FoundToken): string[] {
    return tokenDigests(this.options.keys, slug, token).map((digest) => digest.toString('hex'));
  }

  /**
   * Whether an operation may share a statement with others: an id of another day, which any caller may send, would
   * make the shared statement search every partition.
   */
  private isRecentId(id: Uuid): boolean {
    return Math.abs(this.options.clock.nowMs() - idTimeMs(id)) < TOKEN_MEMORY_MS;
  }

  private firstFutureId(nowMs: number): Uuid {
    return firstIdAt(nowMs + ID_CLOCK_SLACK_MS);
  }

  private notifyEvents(eventIds: readonly Uuid[]): void {
    if (eventIds.length > 0) this.options.listener.onEvents(eventIds);
  }
}

const NOT_FOUND = { kind: 'not_found' } as const;

const isOwn = ({ tenant }: NamedSession, row: EndingRow | undefined): boolean =>
  row !== undefined && ownsRow(tenant, row);

function consumeResult(command: ConsumeCommand, row: TimedRow | undefined, consumed: ReadonlySet<Uuid>): ConsumeResult {
  if (row === undefined || !isOwn(command, row)) return NOT_FOUND;
  const session = sessionOf(row);
  if (session.status !== 'approved') return { kind: 'not_approved', session };
  return consumed.has(command.id) ? { kind: 'consumed', session } : { kind: 'consumed_before' };
}

const nothingToRecord = (): Promise<void> => Promise.resolve();

function pick<Row>(rows: ReadonlyMap<Uuid, Row>, ids: readonly Uuid[]): Row[] {
  return ids.flatMap((id) => {
    const row = rows.get(id);
    return row === undefined ? [] : [row];
  });
}
