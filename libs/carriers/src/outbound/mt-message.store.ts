import { otpDeliveryEvent, type EventStore, type OtpDelivery } from '@countersign/events';
import { idBounds, type IdSource, type Uuid } from '@countersign/ids';
import { DataError, type Database, type Executor } from '@countersign/postgres';
import { QuickLooks } from '@countersign/postgres/due-rows';
import { isBindLease, type SendingLink } from '../leases/sending-link.js';
import { loggedOutcome } from './attempt-log.js';
import { canonicalId } from './message-id.js';
import {
  CLAIM_MESSAGES,
  COUNT_PARKED,
  FIND_NAMED,
  END_MESSAGES,
  LIST_LAPSED,
  LOCK_DUE,
  LOCK_LAPSED,
  LOCK_MESSAGES,
  NAME_SUBMISSIONS,
  UPSERT_RECEIPTS,
  MARK_SUBMITTED,
  POSTPONE_MESSAGES,
  PURGE_ORPHANS,
  PURGE_SUBMISSIONS,
  READ_SESSIONS,
  REQUEUE_MESSAGES,
  REQUEUE_LAPSED,
} from './outbound.sql.js';
import type {
  AttemptOutcome,
  ClaimedMessage,
  MtPlan,
  DueMessage,
  PlannedAttempt,
  ReceiptResult,
  ReceiptRecord,
} from './outbound.js';

/** How long a receipt may precede its submit response; older unmatched receipts are deleted. */
const ORPHAN_SECONDS = 600;
/** How long carrier ids are kept: codes live for minutes, but the slowest carriers send receipts after days. */
const REMEMBERED_SECONDS = 4 * 24 * 60 * 60;
const PURGE_BATCH = 500;
/** Maximum number of parked receipts that are counted. */
const MAX_COUNTED = 100_000;

export interface DueQuery {
  readonly limit: number;
  /** Of these, the most that have expired. */
  readonly expiredLimit: number;
  /** Whether to read expired messages that are not due as well. */
  readonly everyExpired: boolean;
  /** Range of ids to read, `beforeId` exclusive: fewer partitions are faster. */
  readonly fromId: Uuid;
  readonly beforeId: Uuid;
  /** The claiming gateway. */
  readonly claimedBy: Uuid;
  /** Messages that it has claimed and whose outcome it has not recorded yet. */
  readonly inFlight: readonly Uuid[];
  /** Whether gateways that live have had time to record their outcomes since the database was last unreachable. */
  readonly mayTakeBack: boolean;
}

export interface MtClaim {
  readonly claimed: readonly ClaimedMessage[];
  /** Events written: notify the dispatcher with them after the commit. */
  readonly eventIds: readonly Uuid[];
  /** Number of due messages read. */
  readonly due: number;
  /** A limit was reached: more messages may be due. */
  readonly isFull: boolean;
}

export interface AttemptRecord {
  readonly id: Uuid;
  readonly attempt: number;
  readonly carrier: string;
  /** The connection of a bind, or the system, that it was sent over. */
  readonly link: SendingLink;
  readonly outcome: AttemptOutcome;
  /** When its first part was written to the connection, and when the last response arrived. */
  readonly submittedAt?: Date | null;
  readonly answeredAt?: Date | null;
}

/** A simulated step of a test key's message. */
export interface TestStep {
  readonly id: Uuid;
  readonly to: 'submitted' | 'delivered' | 'undelivered';
  readonly networkError: string | null;
}

/** A state change of a message. */
interface Step {
  readonly id: Uuid;
  readonly sessionId: Uuid;
  readonly accountId: Uuid;
  readonly test: boolean;
  readonly at: Date;
  readonly state: OtpDelivery['state'];
  readonly networkError: string | null;
}
type StepRow = Omit<Step, 'state' | 'networkError'>;
type Ending = Pick<Step, 'id' | 'networkError'> & {
  readonly state: 'delivered' | 'undelivered' | 'failed';
  /** Whose receipt it is; null if unknown, or no attempt. */
  readonly attempt: number | null;
};

interface SessionFacts {
  readonly id: Uuid;
  readonly live: boolean;
  readonly brand: string;
  readonly webhookUrl: string | null;
}

/**
 * State changes of outbound codes: claimed before each attempt, recorded after it, ended by the carrier's receipt,
 * with an event at every step. Everything is written in sets, in the caller's transaction, and is safe to run twice.
 */
export class MtMessageStore {
  private readonly looks = new QuickLooks();

  constructor(
    private readonly events: EventStore,
    private readonly ids: IdSource,
  ) {}

  /**
   * Requeues messages with an expired claim, due at once: their gateway is gone, or never got its claim. Runs before a claim, in transactions of its
   * own: a row that cannot be requeued delays neither the others nor the claim. Returns the error of such a row, or null.
   */
  async requeueLapsed(
    database: Pick<Database, 'query' | 'transaction'>,
    { limit, fromId, beforeId, claimedBy, inFlight, mayTakeBack }: DueQuery,
  ): Promise<DataError | null> {
    const values = [limit, fromId, beforeId, claimedBy, inFlight, mayTakeBack];
    const lapsed = await database.query<{ id: Uuid }>(LIST_LAPSED, values);
    if (lapsed.length === 0) return null;
    const ids = lapsed.map(({ id }) => id);
    const requeue = (some: readonly Uuid[]): Promise<DataError | null> =>
      database.transaction((tx) => requeueAllLapsed(tx, some)).then(() => null, dataErrorOf);
    if ((await requeue(ids)) === null) return null;
    let fault: DataError | null = null;
    for (const id of ids) fault = (await requeue([id])) ?? fault;
    return fault;
  }

  /** Claims due messages: `planOf` decides for each whether it is sent, postponed or failed. */
  async claimDueMessages(tx: Executor, query: DueQuery, planOf: (message: DueMessage) => MtPlan): Promise<MtClaim> {
    const bounds = [query.limit, query.fromId, query.beforeId, query.expiredLimit, query.everyExpired];
    const rows = await this.looks.look(
      query.everyExpired,
      (seconds) => tx.query<Omit<DueMessage, 'brand' | 'sessionLive'>>(LOCK_DUE, [...bounds, seconds]),
      (found) => isFull(found, query),
    );
    if (rows.length === 0) return { claimed: [], eventIds: [], due: 0, isFull: false };
    const sessions = await sessionsOf(tx, rows);
    const decided = rows.map((row) => {
      const { live = false, brand = '' } = sessions.get(row.sessionId) ?? {};
      const message = { ...row, brand, sessionLive: live };
      return { message, plan: planOf(message) };
    });
    const claimed = await claimAll(tx, query.claimedBy, decided);
    await postponeAll(tx, decided);
    const given = decided.flatMap(({ message: { id }, plan }): Ending[] =>
      plan.kind === 'fail' ? [{ id, state: 'failed', networkError: plan.error, attempt: null }] : [],
    );
    const eventIds = await this.appendEvents(tx, await endAll(tx, given, 'queued'));
    return { claimed, eventIds, due: rows.length, isFull: isFull(rows, query) };
  }

  /**
   * Records the outcomes of attempts. The number of an attempt is its fencing token: every claim increases it under the lock of the
   * row, nothing sets it back, and a record applies only while the message is in state `sending` with that number. So a former
   * holder changes nothing once its message was taken back, claimed again or ended. The epoch of the connection's lease is not
   * asked for: it was checked when the message was claimed, and what the carrier answered stays true after an outage in which the
   * lease ended. Returns the ids of the events written. At most one record per message.
   */
  async recordAttempts(tx: Executor, records: readonly AttemptRecord[]): Promise<Uuid[]> {
    const parkedReceipts = await nameSubmissions(tx, records);
    const submitted = await markSubmitted(tx, records);
    await requeueAll(tx, records);
    const submittedIds = new Set(submitted.map(({ id }) => id));
    const ended = await endAll(
      tx,
      parkedReceipts.filter(({ id }) => submittedIds.has(id)),
      'submitted',
    );
    return this.appendEvents(tx, [...submitted, ...ended]);
  }

  /** Applies final receipts, and returns the result of each. At most one per carrier and id. */
  async applyReceipts(
    tx: Executor,
    receipts: readonly ReceiptRecord[],
  ): Promise<{ readonly results: readonly ReceiptResult[]; readonly eventIds: readonly Uuid[] }> {
    const stored = await withoutRefused(tx, receipts);
    if (stored.length === 0) return { results: receipts.map(() => 'refused'), eventIds: [] };
    const known = await tx.query<KnownReceipt>(UPSERT_RECEIPTS, [
      stored.map(({ carrier }) => carrier),
      stored.map(({ smscMessageId }) => canonicalId(smscMessageId)),
      stored.map(({ state }) => state),
      stored.map(({ networkError }) => networkError),
    ]);
    const owners = new Map(known.map((row) => [keyOf(row), row.messageId]));
    const ended = await endAll(tx, known.flatMap(endingOf), 'submitted');
    const endedIds = new Set(ended.map(({ id }) => id));
    const results = receipts.map((receipt): ReceiptResult => {
      const owner = owners.get(keyOf({ ...receipt, smscMessageId: canonicalId(receipt.smscMessageId) }));
      if (owner === undefined) return 'refused';
      if (owner === null) return 'parked';
      return endedIds.has(owner) ? 'settled' : 'late';
    });
    return { results, eventIds: await this.appendEvents(tx, ended) };
  }

  /** Applies simulated steps to messages of test keys. Steps that were already made are skipped. */
  async applyTestSteps(tx: Executor, steps: readonly TestStep[]): Promise<Uuid[]> {
    const submitted = await markSubmitted(
      tx,
      steps
        .filter(({ to }) => to === 'submitted')
        .map(({ id }) => ({ id, attempt: null, outcome: { kind: 'submitted', smscMessageId: null, receiptId: null } })),
      'queued',
    );
    const endings = steps.flatMap(({ id, to, networkError }): Ending[] =>
      to === 'submitted' ? [] : [{ id, state: to, networkError, attempt: null }],
    );
    return this.appendEvents(tx, [...submitted, ...(await endAll(tx, endings, 'submitted'))]);
  }

  /** Number of receipts without a message, 100,000 at most. */
  async countParkedReceipts(db: Executor): Promise<number> {
    return (await db.query<{ parked: number }>(COUNT_PARKED, [MAX_COUNTED]))[0]?.parked ?? 0;
  }

  /** Deletes up to 500 unmatched receipts, and 500 of a time to come; returns the number deleted. */
  async purgeOrphans(db: Executor): Promise<number> {
    return (await db.query(PURGE_ORPHANS, [ORPHAN_SECONDS, PURGE_BATCH])).length;
  }

  /**
   * Deletes up to 500 carrier ids whose receipts are no longer expected, and 500 of a time to come; returns the number. Call
   * again while it returns any.
   */
  async purgeOld(db: Executor): Promise<number> {
    return (await db.query(PURGE_SUBMISSIONS, [REMEMBERED_SECONDS, PURGE_BATCH])).length;
  }

  private async appendEvents(tx: Executor, steps: readonly Step[]): Promise<Uuid[]> {
    if (steps.length === 0) return [];
    const sessions = await sessionsOf(tx, steps);
    const events = steps.map(({ id: messageId, ...step }) => {
      const sessionWebhookUrl = sessions.get(step.sessionId)?.webhookUrl ?? null;
      return otpDeliveryEvent(this.ids.newId(), { messageId, sessionWebhookUrl, ...step });
    });
    await this.events.append(tx, events);
    return events.map(({ id }) => id);
  }
}

/** Whether more messages may be due than were read. */
function isFull(
  rows: readonly Pick<DueMessage, 'expiresAt' | 'now'>[],
  { limit, expiredLimit }: Pick<DueQuery, 'limit' | 'expiredLimit'>,
): boolean {
  return rows.length >= limit || rows.filter(({ expiresAt, now }) => expiresAt <= now).length >= expiredLimit;
}

interface KnownReceipt {
  readonly carrier: string;
  readonly smscMessageId: string;
  readonly messageId: Uuid | null;
  readonly attempt: number | null;
  readonly receiptState: 'delivered' | 'undelivered';
  readonly networkError: string | null;
}

const keyOf = ({ carrier, smscMessageId }: Pick<KnownReceipt, 'carrier' | 'smscMessageId'>): string =>
  JSON.stringify([carrier, smscMessageId]);

/** The receipts to store: without those with `knownOnly` whose message is not known. */
async function withoutRefused(tx: Executor, receipts: readonly ReceiptRecord[]): Promise<readonly ReceiptRecord[]> {
  const doubtful = receipts.filter(({ knownOnly }) => knownOnly === true);
  if (doubtful.length === 0) return receipts;
  const named = await tx.query<Pick<KnownReceipt, 'carrier' | 'smscMessageId'>>(FIND_NAMED, [
    doubtful.map(({ carrier }) => carrier),
    doubtful.map(({ smscMessageId }) => canonicalId(smscMessageId)),
  ]);
  const keys = new Set(named.map(keyOf));
  return receipts.filter(
    ({ carrier, smscMessageId, knownOnly }) =>
      knownOnly !== true || keys.has(keyOf({ carrier, smscMessageId: canonicalId(smscMessageId) })),
  );
}

function endingOf({ messageId, attempt, receiptState, networkError }: KnownReceipt): Ending[] {
  return messageId === null ? [] : [{ id: messageId, state: receiptState, networkError, attempt }];
}

async function sessionsOf(
  tx: Executor,
  rows: readonly { readonly sessionId: Uuid }[],
): Promise<Map<Uuid, SessionFacts>> {
  const ids = [...new Set(rows.map(({ sessionId }) => sessionId))];
  const { low, high } = idBounds(ids);
  const found = await tx.query<SessionFacts>(READ_SESSIONS, [ids, low, high]);
  return new Map(found.map((session) => [session.id, session]));
}

async function requeueAllLapsed(tx: Executor, listed: readonly Uuid[]): Promise<void> {
  const { low, high } = idBounds(listed);
  const ids = (await tx.query<{ id: Uuid }>(LOCK_LAPSED, [listed, low, high])).map(({ id }) => id);
  if (ids.length > 0) await tx.query(REQUEUE_LAPSED, [ids, low, high]);
}

/** The error of a row's values; rethrows another. */
function dataErrorOf(error: unknown): DataError {
  if (error instanceof DataError) return error;
  throw error;
}

interface Decided {
  readonly message: DueMessage;
  readonly plan: MtPlan;
}

async function claimAll(tx: Executor, claimedBy: Uuid, decided: readonly Decided[]): Promise<ClaimedMessage[]> {
  const sent = decided.flatMap(({ message, plan }) => (plan.kind === 'send' ? [{ message, plan }] : []));
  if (sent.length === 0) return [];
  const ids = sent.map(({ message }) => message.id);
  const { low, high } = idBounds(ids);
  const of = <Value>(pick: (plan: PlannedAttempt) => Value): Value[] => sent.map(({ plan }) => pick(plan));
  const leases = of(({ link }) => (isBindLease(link) ? link : null));
  const rows = await tx.query<{ id: Uuid; attempts: number }>(CLAIM_MESSAGES, [
    ids,
    of(({ leaseSeconds }) => leaseSeconds),
    of(({ routeId }) => routeId),
    leases.map((lease) => lease?.bindId ?? null),
    of(({ carrier }) => carrier),
    of(({ source }) => source),
    claimedBy,
    low,
    high,
    leases.map((lease) => lease?.slot ?? null),
    leases.map((lease) => lease?.owner ?? null),
    leases.map((lease) => lease?.epoch ?? null),
    of(({ link }) => (isBindLease(link) ? null : link.systemId)),
  ]);
  const attempts = new Map(rows.map(({ id, attempts: made }) => [id, made]));
  return sent.flatMap(({ message, plan }) => {
    const attempt = attempts.get(message.id);
    return attempt === undefined ? [] : [{ message, plan, attempt }];
  });
}

async function postponeAll(tx: Executor, decided: readonly Decided[]): Promise<void> {
  const waits = decided.flatMap(({ message: { id }, plan }) => (plan.kind === 'wait' ? [{ id, ...plan }] : []));
  if (waits.length === 0) return;
  const ids = waits.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  await tx.query(POSTPONE_MESSAGES, [ids, waits.map(({ ms }) => ms), waits.map(({ afresh }) => afresh), low, high]);
}

/** Stores the messages of carrier ids, and returns the receipts that had arrived before. */
async function nameSubmissions(tx: Executor, records: readonly AttemptRecord[]): Promise<Ending[]> {
  // An id that a carrier assigned twice in one batch belongs to the later message.
  const named = new Map<string, Pick<AttemptRecord, 'id' | 'attempt' | 'carrier'> & { smscMessageId: string }>();
  for (const { id, attempt, carrier, outcome } of records) {
    if (outcome.kind !== 'submitted' || outcome.receiptId === null) continue;
    const smscMessageId = canonicalId(outcome.receiptId);
    named.set(keyOf({ carrier, smscMessageId }), { carrier, smscMessageId, id, attempt });
  }
  if (named.size === 0) return [];
  const rows = [...named.values()];
  const known = await tx.query<{
    messageId: Uuid;
    attempt: number;
    receiptState: 'delivered' | 'undelivered' | null;
    networkError: string | null;
  }>(NAME_SUBMISSIONS, [
    rows.map(({ carrier }) => carrier),
    rows.map(({ smscMessageId }) => smscMessageId),
    rows.map(({ id }) => id),
    rows.map(({ attempt }) => attempt),
  ]);
  return known.flatMap(({ messageId: id, attempt, receiptState: state, networkError }) =>
    state === null ? [] : [{ id, state, networkError, attempt }],
  );
}

type SubmittedRecord = Pick<AttemptRecord, 'id' | 'outcome' | 'submittedAt' | 'answeredAt'> & {
  /** Null for a message of a test key, which is not claimed. */
  readonly attempt: number | null;
};

async function markSubmitted(
  tx: Executor,
  records: readonly SubmittedRecord[],
  from: 'sending' | 'queued' = 'sending',
): Promise<Step[]> {
  const rows = records.flatMap(({ outcome, ...record }) =>
    outcome.kind === 'submitted' ? [{ ...record, smscMessageId: outcome.smscMessageId }] : [],
  );
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  const updated = await tx.query<StepRow>(MARK_SUBMITTED, [
    ids,
    rows.map(({ attempt }) => attempt),
    rows.map(({ smscMessageId }) => smscMessageId),
    low,
    high,
    from,
    rows.map(({ submittedAt }) => submittedAt ?? null),
    rows.map(({ answeredAt }) => answeredAt ?? null),
  ]);
  return updated.map((row) => ({ ...row, state: 'submitted', networkError: null }));
}

async function requeueAll(tx: Executor, records: readonly AttemptRecord[]): Promise<void> {
  const rows = records.flatMap(({ outcome, ...record }) =>
    outcome.kind === 'submitted' ? [] : [{ ...record, ...outcome, outcome: loggedOutcome(outcome) }],
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const { low, high } = idBounds(ids);
  await tx.query(REQUEUE_MESSAGES, [
    ids,
    rows.map(({ attempt }) => attempt),
    rows.map(({ error }) => error),
    rows.map(({ kind }) => kind === 'refused'),
    rows.map(({ kind }) => kind === 'unknown'),
    low,
    high,
    rows.map(({ outcome }) => outcome),
    rows.map(({ submittedAt }) => submittedAt ?? null),
    rows.map(({ answeredAt }) => answeredAt ?? null),
  ]);
}

async function endAll(tx: Executor, endings: readonly Ending[], from: 'queued' | 'submitted'): Promise<Step[]> {
  if (endings.length === 0) return [];
  const byId = new Map(endings.map((ending) => [ending.id, ending]));
  const ids = [...byId.keys()];
  const { low, high } = idBounds(ids);
  const all = [...byId.values()];
  const [, updated] = await Promise.all([
    tx.query(LOCK_MESSAGES, [ids, low, high, from]),
    tx.query<StepRow>(END_MESSAGES, [
      ids,
      all.map(({ state }) => state),
      all.map(({ networkError }) => networkError),
      low,
      high,
      from,
      all.map(({ attempt }) => attempt),
    ]),
  ]);
  return updated.flatMap((row) => {
    const ending = byId.get(row.id);
    return ending === undefined ? [] : [{ ...row, state: ending.state, networkError: ending.networkError }];
  });
}
