import { destinationPrefix } from '@countersign/carriers';
import type { DueEvent } from '@countersign/events';
import type { ServerKeys } from '@countersign/keys';
import { firstIdAt, idBounds, idTimeMs, type Executor, type Uuid } from '@countersign/postgres';
import { ID_EARLIER_MS, LONGEST_SESSION_MS } from '@countersign/session';
import {
  ADD_APPROVALS,
  CONVERT_PHONES,
  CREDIT_PHONES,
  PURGE_APPROVALS,
  PURGE_PHONES,
  READ_APPROVED,
  READ_SENT_CODES,
} from './approval.sql.js';
import { ApprovalTally } from './approval-tally.js';
import { dayOf, firstKnownDay, phoneDigest, phoneKey } from './approved-phones.js';

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
  readonly phone: Buffer;
}

/**
 * Counts approvals for the conversion budget: settles the sends of approved sessions, and credits their phones. It runs
 * where events are dispatched, in the transaction that takes them, so each approval counts exactly once however the session
 * was approved, and the transactions that approve do nothing for it. Until it has run, the budget is stricter, never laxer.
 */
export class ApprovalStore {
  constructor(private readonly keys: ServerKeys) {}

  /** Counts the approvals among events that were taken in this transaction. */
  async count(tx: Executor, events: readonly DueEvent[]): Promise<void> {
    const ids = events.flatMap(({ type, sessionId, test }) =>
      type === 'verification.completed' && sessionId !== null && !test ? [sessionId] : [],
    );
    if (ids.length === 0) return;
    const { low, high } = idBounds(ids);
    const approved = await tx.query<Approved>(READ_APPROVED, [ids, low, high]);
    const tally = new ApprovalTally();
    for (const sent of await this.sentCodes(
      tx,
      approved.filter(({ withCode }) => withCode),
    )) {
      tally.settle(sent);
    }
    const days = new Map<string, Approved[]>();
    for (const each of approved) {
      const day = dayOf(each.at.getTime());
      days.set(day, [...(days.get(day) ?? []), each]);
    }
    for (const [day, sessions] of [...days].sort(([one], [other]) => (one < other ? -1 : 1))) {
      await this.credit(tx, day, sessions, tally);
    }
    await this.write(tx, tally);
  }

  /**
   * Deletes slots that are over and phones that are no longer known.
   *
   * @param limit rows of each table at most
   * @returns whether more of it may be left
   */
  async purge(db: Executor, nowMs: number, limit: number): Promise<boolean> {
    const slots = await db.query(PURGE_APPROVALS, [limit]);
    const phones = await db.query(PURGE_PHONES, [firstKnownDay(nowMs), limit]);
    return slots.length === limit || phones.length === limit;
  }

  private async sentCodes(tx: Executor, sessions: readonly Approved[]): Promise<SentCode[]> {
    if (sessions.length === 0) return [];
    const ids = sessions.map(({ id }) => id);
    const { low, high } = idBounds(ids);
    const from = firstIdAt(Math.max(0, idTimeMs(low) - ID_EARLIER_MS));
    // A code is sent within the life of its session.
    const to = firstIdAt(idTimeMs(high) + ID_EARLIER_MS + LONGEST_SESSION_MS);
    return tx.query<SentCode>(READ_SENT_CODES, [ids, from, to]);
  }

  /** Approvals of one day: each phone earns credits once, and counts once for its block of numbers. */
  private async credit(tx: Executor, day: string, sessions: readonly Approved[], tally: ApprovalTally): Promise<void> {
    const byPhone = this.byPhone(sessions);
    const credited = await tx.query<PhoneRow>(CREDIT_PHONES, columnsOf(byPhone.values(), day));
    for (const row of credited) {
      const phone = byPhone.get(phoneKey(row));
      if (phone !== undefined) tally.credit(phone.session);
    }
    const withCode = this.byPhone(sessions.filter((session) => session.withCode));
    if (withCode.size === 0) return;
    const converted = await tx.query<PhoneRow>(CONVERT_PHONES, columnsOf(withCode.values(), day));
    for (const row of converted) {
      const phone = withCode.get(phoneKey(row));
      if (phone !== undefined) tally.convert({ ...phone.session, block: destinationPrefix(phone.session.phone) });
    }
  }

  private byPhone(sessions: readonly Approved[]): Map<string, PhoneRow & { readonly session: Approved }> {
    return new Map(
      sessions.map((session) => {
        const row = { accountId: session.accountId, phone: phoneDigest(this.keys, session.phone), session };
        return [phoneKey(row), row];
      }),
    );
  }

  private async write(tx: Executor, tally: ApprovalTally): Promise<void> {
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

function columnsOf(phones: Iterable<PhoneRow>, day: string): readonly unknown[] {
  const rows = [...phones];
  return [rows.map(({ accountId }) => accountId), rows.map(({ phone }) => phone), day];
}
