import { destinationPrefix } from '@countersign/carriers/outbound';
import type { DueEvent } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { firstIdAt, idBounds, idTimeMs, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { ID_EARLIER_MS } from '@countersign/session';
import { LONGEST_SESSION_MS } from '@countersign/session/rules';
import { Injectable } from '@nestjs/common';
import {
  ADD_APPROVALS,
  CONVERT_PHONES,
  CREDIT_PHONES,
  FOLD_PHONES,
  PURGE_APPROVALS,
  PURGE_PHONES,
  PURGE_SETTLED,
  READ_APPROVED,
  SETTLE_SENT_CODES,
} from './approval.sql.js';
import { ApprovalTally } from './approval-tally.js';
import { dayOf, firstKnownDay, phoneDigests, phoneKey } from './approved-phones.js';

/** An approved live session. */
interface Approved {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly phone: string;
  readonly country: string;
  /** When it was approved. */
  readonly at: Date;
  readonly withCode: boolean;
}

interface SentCode {
  readonly accountId: Uuid;
  readonly country: string;
  readonly block: string;
  readonly at: Date;
}

interface PhoneRow {
  readonly accountId: Uuid;
  /** Keyed digest. */
  readonly phone: Buffer;
}

/** An approved session and the rows of its phone: one for each version of the master key, the current one first. */
interface ApprovedPhone {
  readonly session: Approved;
  readonly rows: readonly [PhoneRow, ...PhoneRow[]];
}

/**
 * Counts approvals for the conversion budget: counts the sends of approved sessions as settled and credits their phones.
 * It runs in the transaction that dispatches the events, so each approval counts exactly once on every path of approval,
 * however often its event is written, and the transactions that approve do no work for it. Until it has run, the budget is
 * stricter, never laxer.
 *
 * During a rotation of the master key a phone is locked under every version, and an approval is the first of its day only
 * if it is the first in all of them: two processes with different current versions do not both credit one phone. Only the
 * row under the current version stays.
 */
@Injectable()
export class ApprovalStore {
  constructor(private readonly keys: ServerKeys) {}

  /** Counts the approvals among the events that this transaction dispatches. */
  async count(tx: Executor, events: readonly DueEvent[]): Promise<void> {
    const ids = events.flatMap(({ type, sessionId, test }) =>
      type === 'verification.completed' && sessionId !== null && !test ? [sessionId] : [],
    );
    if (ids.length === 0) return;
    const { low, high } = idBounds(ids);
    const approved = await tx.query<Approved>(READ_APPROVED, [ids, low, high]);
    const tally = new ApprovalTally();
    for (const sent of await this.settleSentCodes(
      tx,
      approved.filter(({ withCode }) => withCode),
    )) {
      tally.addSettledSend(sent);
    }
    const days = new Map<string, Approved[]>();
    for (const each of approved) {
      const day = dayOf(each.at.getTime());
      days.set(day, [...(days.get(day) ?? []), each]);
    }
    for (const [day, sessions] of [...days].sort(([one], [other]) => (one < other ? -1 : 1))) {
      await this.creditPhones(tx, day, sessions, tally);
    }
    await this.writeTally(tx, tally);
  }

  /**
   * Deletes slots that no window needs, settled sessions that none reaches and phones that are no longer known.
   *
   * @param limit rows of each table at most
   * @returns whether more rows may be left
   */
  async purge(db: Executor, nowMs: number, limit: number): Promise<boolean> {
    const slots = await db.query(PURGE_APPROVALS, [limit]);
    const phones = await db.query(PURGE_PHONES, [firstKnownDay(nowMs), limit]);
    const settled = await db.query(PURGE_SETTLED, [limit]);
    return [slots, phones, settled].some(({ length }) => length === limit);
  }

  private async settleSentCodes(tx: Executor, sessions: readonly Approved[]): Promise<SentCode[]> {
    if (sessions.length === 0) return [];
    const ids = sessions.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const from = firstIdAt(Math.max(0, idTimeMs(low) - ID_EARLIER_MS));
    // A code is sent within the life of its session.
    const to = firstIdAt(idTimeMs(high) + ID_EARLIER_MS + LONGEST_SESSION_MS);
    return tx.query<SentCode>(SETTLE_SENT_CODES, [ids, from, to]);
  }

  /** Approvals of one day: each phone gets credits once, and counts once for its block of numbers. */
  private async creditPhones(
    tx: Executor,
    day: string,
    sessions: readonly Approved[],
    tally: ApprovalTally,
  ): Promise<void> {
    const phones = this.phonesOf(sessions);
    const versions = phones.flatMap(() => this.keys.versions);
    const credited = await tx.query<PhoneRow>(CREDIT_PHONES, [...columnsOf(phones, day), versions]);
    for (const session of firstOfDay(phones, credited)) tally.addCredit(session);
    await this.convertPhones(tx, day, sessions, tally);
    if (this.keys.versions.length > 1) await tx.query(FOLD_PHONES, foldedColumns(phones));
  }

  private async convertPhones(
    tx: Executor,
    day: string,
    sessions: readonly Approved[],
    tally: ApprovalTally,
  ): Promise<void> {
    const withCode = this.phonesOf(sessions.filter((session) => session.withCode));
    if (withCode.length === 0) return;
    const converted = await tx.query<PhoneRow>(CONVERT_PHONES, columnsOf(withCode, day));
    for (const session of firstOfDay(withCode, converted)) {
      tally.addConversion({ ...session, block: destinationPrefix(session.phone) });
    }
  }

  /** The last session of each phone, with the phone's rows. */
  private phonesOf(sessions: readonly Approved[]): ApprovedPhone[] {
    const latest = new Map(sessions.map((session) => [`${session.accountId}:${session.phone}`, session]));
    return [...latest.values()].map((session) => {
      const { accountId } = session;
      const [current, ...others] = phoneDigests(this.keys, session.phone);
      return { session, rows: [{ accountId, phone: current }, ...others.map((phone) => ({ accountId, phone }))] };
    });
  }

  private async writeTally(tx: Executor, tally: ApprovalTally): Promise<void> {
    const rows = tally.additions();
    if (rows.length === 0) return;
    await tx.query(ADD_APPROVALS, [
      rows.map(({ accountId }) => accountId),
      rows.map(({ scope }) => scope),
      rows.map(({ slotMs }) => new Date(slotMs)),
      rows.map(({ untilMs }) => new Date(untilMs)),
      rows.map(({ settled }) => settled),
      rows.map(({ approvals }) => approvals),
    ]);
  }
}

/** Sessions of phones whose rows under all versions of the master key were written. */
function firstOfDay(phones: readonly ApprovedPhone[], writtenRows: readonly PhoneRow[]): Approved[] {
  const keys = new Set(writtenRows.map(phoneKey));
  return phones.filter(({ rows }) => rows.every((row) => keys.has(phoneKey(row)))).map(({ session }) => session);
}

/** Columns of FOLD_PHONES. */
function foldedColumns(phones: readonly ApprovedPhone[]): readonly unknown[] {
  const folded = phones.flatMap(({ rows: [current, ...others] }) =>
    others.map((other) => ({ accountId: current.accountId, current: current.phone, other: other.phone })),
  );
  return [
    folded.map(({ accountId }) => accountId),
    folded.map(({ current }) => current),
    folded.map(({ other }) => other),
  ];
}

function columnsOf(phones: readonly ApprovedPhone[], day: string): readonly unknown[] {
  const rows = phones.flatMap((phone) => phone.rows);
  return [rows.map(({ accountId }) => accountId), rows.map(({ phone }) => phone), day];
}
