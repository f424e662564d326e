/** Maximum age of an entry: a changed row takes effect within it. */
const ROW_CACHE_MAX_AGE_MS = 3_000;
const DEFAULT_MAX_ENTRIES = 10_000;

export interface RowCacheOptions<Value> {
  /** Reads the value from the database; null when there is none. */
  readonly load: (key: string) => Promise<Value | null>;
  readonly maxAgeMs?: number;
  /** Maximum number of entries; the one loaded longest ago is evicted. */
  readonly maxEntries?: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedMs: number;
}

interface PendingRead<Value> {
  readonly promise: Promise<Value | null>;
}

/**
 * A small cache of rows that are read on every request and rarely change. At most 3 s old, counted from before the
 * read. One read per key at a time; its failure rejects for every waiting caller and is not cached. A missing row is
 * not cached either: a new row is visible at once.
 */
export class RowCache<Value> {
  readonly #load: (key: string) => Promise<Value | null>;
  readonly #maxAgeMs: number;
  readonly #maxEntries: number;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #reads = new Map<string, PendingRead<Value>>();

  constructor(options: RowCacheOptions<Value>) {
    this.#load = options.load;
    this.#maxAgeMs = options.maxAgeMs ?? ROW_CACHE_MAX_AGE_MS;
    this.#maxEntries = options.maxEntries ?? DEFAULT_MAX_ENTRIES;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** The value of the key, or null. Rejects as `load` does. */
  async get(key: string): Promise<Value | null> {
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#nowMs() - entry.loadedMs < this.#maxAgeMs) return entry.value;
    const read = this.#reads.get(key);
    if (read === undefined) return this.#startRead(key).promise;
    const value = await read.promise;
    // That read may have started before the row was created, and so before this call: its null is not valid here.
    return value ?? (this.#reads.get(key) ?? this.#startRead(key)).promise;
  }

  /** As `get`, but not the value that the caller has: reads again, unless that was done since. */
  getNewer(key: string, outdated: Value): Promise<Value | null> {
    if (this.#entries.get(key)?.value === outdated) this.#entries.delete(key);
    return this.get(key);
  }

  /** The next read goes to the database. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#reads.delete(key);
  }

  #startRead(key: string): PendingRead<Value> {
    const loadedMs = this.#nowMs();
    const read: PendingRead<Value> = {
      promise: this.#load(key).then(
        (value) => {
          if (this.#endRead(key, read) && value !== null) this.#store(key, { value, loadedMs });
          return value;
        },
        (error: unknown) => {
          this.#endRead(key, read);
          throw error;
        },
      ),
    };
    this.#reads.set(key, read);
    return read;
  }

  /** Whether the read is still the current one of its key: a forgotten read must not store its old value. */
  #endRead(key: string, read: PendingRead<Value>): boolean {
    if (this.#reads.get(key) !== read) return false;
    this.#reads.delete(key);
    this.#entries.delete(key);
    return true;
  }

  #store(key: string, entry: Entry<Value>): void {
    if (this.#entries.size >= this.#maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, entry);
  }
}
