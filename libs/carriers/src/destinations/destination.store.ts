import { firstIdAt, type Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import {
  DELETE_RULE,
  FIND_RULE,
  GUARD_BLOCK,
  INSERT_RULE,
  LIST_RULES,
  LIST_TALLIES,
  LOCK_RULE,
  MATCHING_RULES,
  PURGE_TALLIES,
  TALLY_REFUSALS,
  UPDATE_RULE,
} from './destination.sql.js';
import type { DestinationPage, DestinationRule, GuardBlock, NewDestinationRule, RefusalTally } from './destination.js';

/**
 * The longest block, however often a prefix was blocked before: a number range may change its owner within a month.
 */
const LONGEST_BLOCK_SECONDS = 30 * 24 * 60 * 60;
/** Time after the last block after which the repeat count is reset. */
const QUIET_SECONDS = 30 * 24 * 60 * 60;

/** Reads and writes destination rules, and the tallies of refusals by the guard. */
export class DestinationStore {
  /** `newId` returns a new id from the database's clock. */
  constructor(private readonly newId: () => Uuid) {}

  /**
   * Creates an admin's rule. Throws DataError 23505 for an existing prefix of the account, or of all, 23503 for an
   * unknown account.
   */
  async create(tx: Executor, rule: NewDestinationRule): Promise<DestinationRule> {
    const { accountId = null, prefix, action, kinds = [], reason, until = null } = rule;
    const values = [this.newId(), accountId, prefix, action, reason, until, kinds];
    return requireRow(await tx.query<DestinationRule>(INSERT_RULE, values));
  }

  async find(db: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [rule] = await db.query<DestinationRule>(FIND_RULE, [id]);
    return rule ?? null;
  }

  /** The current rule, locked until the transaction ends. */
  async lock(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [rule] = await tx.query<DestinationRule>(LOCK_RULE, [id]);
    return rule ?? null;
  }

  /** One page, newest first: admin rules and active guard blocks. */
  async list(db: Executor, page: DestinationPage): Promise<{ data: DestinationRule[]; hasMore: boolean }> {
    return pageOf(page.limit, await db.query<DestinationRule>(LIST_RULES, pageValues(page)));
  }

  /**
   * Writes all fields of a locked admin rule except its account. Throws as `create`; guard rules cannot be updated.
   */
  async update(tx: Executor, { id, prefix, action, kinds, reason, until }: DestinationRule): Promise<DestinationRule> {
    return requireRow(await tx.query<DestinationRule>(UPDATE_RULE, [id, prefix, action, reason, until, kinds]));
  }

  /** Deletes a rule and returns it; null for an unknown id. For a guard rule the repeat count is deleted too. */
  async remove(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [removed] = await tx.query<DestinationRule>(DELETE_RULE, [id]);
    return removed ?? null;
  }

  /** The active rules that match a number for this account, in no particular order. */
  matching(db: Executor, accountId: Uuid, e164: string, now: Date): Promise<DestinationRule[]> {
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
    const values = [this.newId(), accountId, prefix, reason, blockSeconds, LONGEST_BLOCK_SECONDS, QUIET_SECONDS];
    const [rule] = await db.query<DestinationRule>(GUARD_BLOCK, values);
    return rule ?? null;
  }

  /** Counts refusals of the guard, for the admins of the account. */
  async countRefusals(db: Executor, accountId: Uuid, rule: string, prefix: string, times = 1): Promise<void> {
    await db.query(TALLY_REFUSALS, [this.newId(), accountId, rule, prefix, times]);
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
