import { firstIdAt, type IdSource, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import {
  GUARD_BLOCK,
  LIST_RULES,
  LIST_TALLIES,
  MATCHING_RULES,
  PURGE_SESSION_REFUSALS,
  PURGE_TALLIES,
  SESSION_REFUSALS,
  TALLY_REFUSALS,
  TALLY_SESSION_REFUSALS,
} from './destination.sql.js';
import type { DestinationPage, GuardBlock, NewDestinationRule, RefusalTally, SessionRefusal } from './destination.js';
import { type DestinationRule, DESTINATION_RULES } from './destination-rule.entity.js';

/**
 * The longest block, however often a prefix was blocked before: a number range may change its owner within a month.
 */
const LONGEST_BLOCK_SECONDS = 30 * 24 * 60 * 60;
/** Time after the last block after which the repeat count is reset. */
const QUIET_SECONDS = 30 * 24 * 60 * 60;

/** Reads and writes destination rules, and the tallies of refusals by the guard. */
export class DestinationStore {
  constructor(private readonly ids: IdSource) {}

  /**
   * Creates an admin's rule. Throws DataError 23505 for an existing prefix of the account, or of all, 23503 for an
   * unknown account.
   */
  create(tx: Executor, rule: NewDestinationRule): Promise<DestinationRule> {
    return DESTINATION_RULES.insert(tx, { ...rule, origin: 'admin', id: this.ids.newId() });
  }

  find(db: Executor, id: Uuid): Promise<DestinationRule | null> {
    return DESTINATION_RULES.find(db, id);
  }

  /** The current rule, locked until the transaction ends. */
  lock(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    return DESTINATION_RULES.lock(tx, id);
  }

  /** One page, newest first: admin rules and active guard blocks. */
  async list(db: Executor, page: DestinationPage): Promise<{ data: DestinationRule[]; hasMore: boolean }> {
    return pageOf(page.limit, await db.query<DestinationRule>(LIST_RULES, pageValues(page)));
  }

  /** Writes all fields of a locked admin rule except its account. Throws as `create`, and for a rule of the guard. */
  async update(tx: Executor, { id, ...rule }: DestinationRule): Promise<DestinationRule> {
    if (rule.origin === 'guard') throw new Error('a rule of the guard cannot be updated');
    return DESTINATION_RULES.update(tx, id, rule);
  }

  /** Deletes a rule and returns it; null for an unknown id. For a guard rule the repeat count is deleted too. */
  async remove(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    const rule = await DESTINATION_RULES.lock(tx, id);
    if (rule !== null) await DESTINATION_RULES.delete(tx, id);
    return rule;
  }

  /** The active rules that match a number for this account, or with null for all accounts, in no particular order. */
  matching(db: Executor, accountId: Uuid | null, e164: string, now: Date): Promise<DestinationRule[]> {
    return db.query<DestinationRule>(MATCHING_RULES, [accountId, prefixesOf(e164), now]);
  }

  /**
   * Blocks a prefix for an account on behalf of the guard, longer on each repeat. Null when a block is already
   * active: of several processes that detect one attack, one blocks.
   */
  async blockPrefix(
    db: Executor,
    { accountId, prefix, reason, blockSeconds }: GuardBlock,
  ): Promise<DestinationRule | null> {
    const values = [this.ids.newId(), accountId, prefix, reason, blockSeconds, LONGEST_BLOCK_SECONDS, QUIET_SECONDS];
    const [rule] = await db.query<DestinationRule>(GUARD_BLOCK, values);
    return rule ?? null;
  }

  /** Counts refusals of the guard, for the admins of the account. */
  async countRefusals(db: Executor, accountId: Uuid, rule: string, prefix: string, times = 1): Promise<void> {
    await db.query(TALLY_REFUSALS, [this.ids.newId(), accountId, rule, prefix, times]);
  }

  /** Counts refusals of codes of sessions, one for each element. */
  async countSessionRefusals(
    db: Executor,
    refusals: readonly { readonly sessionId: Uuid; readonly rule: string }[],
  ): Promise<void> {
    const tallies = new Map<string, { readonly sessionId: Uuid; readonly rule: string; times: number }>();
    for (const { sessionId, rule } of refusals) {
      const key = `${sessionId} ${rule}`;
      const tally = tallies.get(key) ?? { sessionId, rule, times: 0 };
      tally.times += 1;
      tallies.set(key, tally);
    }
    const rows = [...tallies.values()];
    await db.query(TALLY_SESSION_REFUSALS, [
      rows.map(({ sessionId }) => sessionId),
      rows.map(({ rule }) => rule),
      rows.map(({ times }) => times),
    ]);
  }

  /** The refusals of codes of a session, one for each rule, oldest first. */
  refusalsOfSession(db: Executor, sessionId: Uuid): Promise<SessionRefusal[]> {
    return db.query<SessionRefusal>(SESSION_REFUSALS, [sessionId]);
  }

  /** Deletes up to `limit` refusals of sessions created before `before`; returns the number deleted. */
  async purgeSessionRefusals(db: Executor, before: Date, limit: number): Promise<number> {
    return (await db.query(PURGE_SESSION_REFUSALS, [firstIdAt(before.getTime()), limit])).length;
  }

  /** One page of tallies, newest first. */
  async listRefusals(db: Executor, page: DestinationPage): Promise<{ data: RefusalTally[]; hasMore: boolean }> {
    return pageOf(page.limit, await db.query<RefusalTally>(LIST_TALLIES, pageValues(page)));
  }

  /** Deletes up to `limit` tallies older than `before`; returns the number deleted. */
  async purgeRefusals(db: Executor, before: Date, limit: number): Promise<number> {
    return (await db.query(PURGE_TALLIES, [firstIdAt(before.getTime()), limit])).length;
  }
}

/** One row more than the page shows whether another page follows. */
const pageValues = ({ limit, startingAfter = null, accountId = null }: DestinationPage): readonly unknown[] => [
  limit + 1,
  startingAfter,
  accountId,
];

const pageOf = <Row>(limit: number, rows: Row[]): { data: Row[]; hasMore: boolean } => ({
  data: rows.slice(0, limit),
  hasMore: rows.length > limit,
});

/** `+4479` begins with `+4`, `+44`, `+447` and `+4479`. */
function prefixesOf(e164: string): string[] {
  return Array.from({ length: e164.length - 1 }, (_, at) => e164.slice(0, at + 2));
}
