/** Names those of some tables ($1) that had at least so many rows ($2) when they were analyzed last. */
export const FIND_LARGE = `SELECT relname AS name FROM pg_class WHERE relname = ANY ($1::text[]) AND reltuples >= $2
  AND pg_table_is_visible(oid)`;

/**
 * With so many rows every plan for a set of ids uses their index. PostgreSQL would keep the plan of a smaller partition, which
 * reads all of its rows, until it analyzes the partition again: for a minute or more of growth.
 */
const LARGE_ROWS = 5_000;
const CHECK_INTERVAL_MS = 15_000;

/** Knows which partitions are large. A partition only grows until it is dropped. */
export class LargePartitions {
  readonly #large = new Set<string>();
  /** Others that were asked for, to be looked up. */
  readonly #unknown = new Set<string>();
  /** Partitions that cannot be used by name. */
  readonly #excluded = new Set<string>();
  #checkDueMs = -Infinity;

  /** @param find names the large ones among these tables, by FIND_LARGE */
  constructor(
    private readonly find: (names: readonly string[], rows: number) => Promise<readonly { name: string }[]>,
  ) {}

  /** Never waits: a partition counts as small until it has been looked up. */
  has(partition: string): boolean {
    if (this.#large.has(partition)) return true;
    if (this.#excluded.has(partition)) return false;
    this.#unknown.add(partition);
    if (performance.now() >= this.#checkDueMs) void this.#check();
    return false;
  }

  /** From now on the partition counts as small. */
  exclude(partition: string): void {
    this.#large.delete(partition);
    this.#excluded.add(partition);
  }

  /** Never rejects: without an answer the partitions count as small. */
  async #check(): Promise<void> {
    this.#checkDueMs = performance.now() + CHECK_INTERVAL_MS;
    const names = [...this.#unknown];
    this.#unknown.clear();
    const found = await this.find(names, LARGE_ROWS).catch(() => []);
    for (const { name } of found) if (!this.#excluded.has(name)) this.#large.add(name);
  }
}
