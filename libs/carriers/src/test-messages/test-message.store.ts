import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { parseResult, type ClaimedTestMessage, type TestMessageResult } from './test-message.js';
import {
  ADD,
  CLAIM,
  DELETE_OLD,
  ERASE_OLD_PHONES,
  ERASE_PHONE,
  GIVE_UP,
  LOCK_COUNT,
  READ_RESULT,
  RECORD,
  SECONDS_UNTIL_FREE,
} from './test-message.sql.js';

type NewTestMessage = Omit<ClaimedTestMessage, 'createdAt'>;

/** The time of a test message, or when there is room for another one. */
export type AddedTestMessage =
  { readonly ok: true; readonly createdAt: Date } | { readonly ok: false; readonly retryAfterSeconds: number };

/** Messages that an engineer sends over a bind to try it. Rows are kept for a day, phones until the result. */
export class TestMessageStore {
  /** In the caller's transaction, which other calls wait for. */
  async add(tx: Executor, { id, bindId, phone, source }: NewTestMessage): Promise<AddedTestMessage> {
    await tx.query(LOCK_COUNT);
    const [added] = await tx.query<{ createdAt: Date }>(ADD, [id, bindId, phone, source]);
    if (added !== undefined) return { ok: true, ...added };
    const [room] = await tx.query<{ seconds: number }>(SECONDS_UNTIL_FREE);
    return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(room?.seconds ?? 1)) };
  }

  /** Claims new ones of these binds: they are sent by this gateway or by none. */
  async claim(db: Executor, gatewayId: Uuid, bindIds: readonly Uuid[]): Promise<ClaimedTestMessage[]> {
    return bindIds.length === 0 ? [] : db.query<ClaimedTestMessage>(CLAIM, [gatewayId, bindIds]);
  }

  /** Does nothing for one that another gateway has claimed. */
  async record(db: Executor, id: Uuid, gatewayId: Uuid, result: TestMessageResult): Promise<void> {
    await db.query(RECORD, [id, gatewayId, JSON.stringify(result)]);
  }

  /** Does nothing for one that a gateway has claimed. */
  async giveUp(db: Executor, id: Uuid, result: TestMessageResult): Promise<void> {
    await db.query(GIVE_UP, [id, JSON.stringify(result)]);
  }

  /** Call when its result was read, or is not waited for any more: no gateway may change the row that far. */
  async erasePhone(db: Executor, id: Uuid): Promise<void> {
    await db.query(ERASE_PHONE, [id]);
  }

  /** Deletes rows of yesterday, and phones that were left in others. */
  async purge(db: Executor): Promise<void> {
    await db.query(DELETE_OLD);
    await db.query(ERASE_OLD_PHONES);
  }

  /** Null before it has one. */
  async findResult(db: Executor, id: Uuid): Promise<TestMessageResult | null> {
    const [row] = await db.query<{ result: unknown }>(READ_RESULT, [id]);
    return row === undefined || row.result === null ? null : parseResult(row.result);
  }
}
