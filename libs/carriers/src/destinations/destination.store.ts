import { firstIdAt, type Uuid } from '@countersign/ids';
import { written, type Executor } from '@countersign/postgres';
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

/** However often a prefix was blocked before: a number range changes hands within a month. */
const LONGEST_BLOCK_SECONDS = 30 * 24 * 60 * 60;
/** So long after its last block a prefix begins with a clean slate. */
const QUIET_SECONDS = 30 * 24 * 60 * 60;

/** The one door to destination rules, and to the tallies of what the guard refused. */
export class DestinationStore {
  /** `newId` gives a new id by the database's clock. */
  constructor(private readonly newId: () => Uuid) {}

  /** An admin's rule. Throws DataError 23505 where the account, or all, have one for the prefix, 23503 for an unknown account. */
  async create(tx: Executor, rule: NewDestinationRule): Promise<DestinationRule> {
    const { accountId = null, prefix, action, kinds = [], reason, until = null } = rule;
    const values = [this.newId(), accountId, prefix, action, reason, until, kinds];
    return written(await tx.query<DestinationRule>(INSERT_RULE, values));
  }

  async find(db: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [rule] = await db.query<DestinationRule>(FIND_RULE, [id]);
    return rule ?? null;
  }

  /** A rule as it is now, kept from other changes until the transaction ends. */
  async lock(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [rule] = await tx.query<DestinationRule>(LOCK_RULE, [id]);
    return rule ?? null;
  }

  /** One page, newest first: what admins have said, and what the guard blocks at this moment. */
  async list(db: Executor, page: DestinationPage): Promise<{ data: DestinationRule[]; hasMore: boolean }> {
    return pageOf(page.limit, await db.query<DestinationRule>(LIST_RULES, pageValues(page)));
  }

  /** Writes all of an admin's rule that was locked, but whose it is. Throws as `create`; what the guard says stays its own. */
  async update(tx: Executor, { id, prefix, action, kinds, reason, until }: DestinationRule): Promise<DestinationRule> {
    return written(await tx.query<DestinationRule>(UPDATE_RULE, [id, prefix, action, reason, until, kinds]));
  }

  /** Takes a rule away and answers it; null when there is none. One of the guard's is forgotten with its repeats. */
  async remove(tx: Executor, id: Uuid): Promise<DestinationRule | null> {
    const [removed] = await tx.query<DestinationRule>(DELETE_RULE, [id]);
    return removed ?? null;
  }

  /** The rules in force that a number of this account falls under, in no order. */
  matching(db: Executor, accountId: Uuid, e164: string, now: Date): Promise<DestinationRule[]> {
    return db.query<DestinationRule>(MATCHING_RULES, [accountId, prefixesOf(e164), now]);
  }

  /**
   * The guard blocks a prefix for an account, longer on each repeat. Null when a block is in force already: of those who
   * find out about one attack at the same time, one blocks.
   */
  async block(db: Executor, { accountId, prefix, reason, blockSeconds }: GuardBlock): Promise<DestinationRule | null> {
    const values = [this.newId(), accountId, prefix, reason, blockSeconds, LONGEST_BLOCK_SECONDS, QUIET_SECONDS];
    const [rule] = await db.query<DestinationRule>(GUARD_BLOCK, values);
    return rule ?? null;
  }

  /** Counts refusals of the guard, for the admins of the account. */
  async tally(db: Executor, accountId: Uuid, rule: string, prefix: string, times = 1): Promise<void> {
    await db.query(TALLY_REFUSALS, [this.newId(), accountId, rule, prefix, times]);
  }

  /** One page of tallies, newest first. */
  async listRefusals(db: Executor, page: DestinationPage): Promise<{ data: RefusalTally[]; hasMore: boolean }> {
    return pageOf(page.limit, await db.query<RefusalTally>(LIST_TALLIES, pageValues(page)));
  }

  /** Forgets up to `limit` tallies that began before the moment, and answers how many. */
  async purgeRefusals(db: Executor, before: Date, limit: number): Promise<number> {
    return (await db.query(PURGE_TALLIES, [firstIdAt(before.getTime()), limit])).length;
  }
}

/** One row more than the page has tells whether another page follows. */
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
