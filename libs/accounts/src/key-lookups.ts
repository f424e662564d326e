import { Batcher, type Executor } from '@countersign/postgres';

/** Keys in one statement at most. */
const MAX_KEYS = 100;
/** Statements at a time: look-ups leave the other connections of the pool to calls with a known key. */
const MAX_STATEMENTS = 2;
/** Keys that wait at most; a valid key is never refused because of others, so this bounds memory alone. */
const MAX_WAITING = 20_000;

/** A row that was found by a keyed digest. */
export interface DigestRow {
  /** In hex. */
  readonly digest: string;
}

/**
 * Looks keys up by their digests. Keys that are asked for at the same moment share a statement: a flood of unknown keys,
 * each of which must be looked up because any of them may be valid, costs few statements and at most two connections.
 * Rejects with DatabaseUnavailable, and with BatcherFull when too many keys wait.
 */
export class KeyLookups<Row extends DigestRow> {
  readonly #batcher: Batcher<readonly Buffer[], Row | null>;

  /** @param statement the rows of some digests; $1 digests */
  constructor(db: Executor, name: string, statement: string) {
    this.#batcher = new Batcher({
      name,
      limits: { maxBatch: MAX_KEYS, maxInFlight: MAX_STATEMENTS, maxQueued: MAX_WAITING },
      keysOf: () => [],
      run: async (keys) => {
        const rows = await db.query<Row>(statement, [keys.flat()]);
        const byDigest = new Map(rows.map((row) => [row.digest, row]));
        return keys.map((digests) => digests.map((digest) => byDigest.get(digest.toString('hex'))).find(isRow) ?? null);
      },
    });
  }

  /** @param digests of one key under every version of the master key */
  find(digests: readonly Buffer[]): Promise<Row | null> {
    return this.#batcher.add(digests);
  }
}

const isRow = <Row>(row: Row | undefined): row is Row => row !== undefined;
