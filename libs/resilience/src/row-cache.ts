/** What a RowCache holds is never older than this (architecture, Fast by shape). */
export const ROW_CACHE_MAX_AGE_MS = 3_000;
const DEFAULT_MAX_ENTRIES = 10_000;

export interface RowCacheOptions<Value> {
  /** Reads the value from the database, or null when there is none. */
  readonly load: (key: string) => Promise<Value | null>;
  readonly maxAgeMs?: number;
  /** The entry loaded longest ago makes room for a new one beyond this. */
  readonly maxEntries?: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly loadedMs: number;
}

interface Flight<Value> {
  readonly promise: Promise<Value | null>;
}

/**
 * A small copy of rows that are read on every request and seldom change. At most 3 s old, counted from before the read.
 * One read per key at a time, whose failure reaches everyone who waits for it and is not kept. "There is none" is not
 * kept either: what was just made works at once.
 */
export class RowCache<Value> {
  readonly #load: (key: string) => Promise<Value | null>;
  readonly #maxAgeMs: number;
  readonly #maxEntries: number;
  readonly #nowMs: () => number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #flights = new Map<string, Flight<Value>>();

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
    const flight = this.#flights.get(key);
    if (flight === undefined) return this.#fly(key).promise;
    const value = await flight.promise;
    // That read may have begun before the row was made, and so before this call: its "none" is not an answer to it.
    return value ?? (this.#flights.get(key) ?? this.#fly(key)).promise;
  }

  /** As `get`, but not the value that the caller has seen: reads again, unless that was done since. */
  getNewer(key: string, seen: Value): Promise<Value | null> {
    if (this.#entries.get(key)?.value === seen) this.#entries.delete(key);
    return this.get(key);
  }

  /** The next read goes to the database. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#flights.delete(key);
  }

  #fly(key: string): Flight<Value> {
    const loadedMs = this.#nowMs();
    const flight: Flight<Value> = {
      promise: this.#load(key).then(
        (value) => {
          if (this.#land(key, flight) && value !== null) this.#keep(key, { value, loadedMs });
          return value;
        },
        (error: unknown) => {
          this.#land(key, flight);
          throw error;
        },
      ),
    };
    this.#flights.set(key, flight);
    return flight;
  }

  /** Whether the flight was still the one of its key: a forgotten one may not bring its old value back. */
  #land(key: string, flight: Flight<Value>): boolean {
    if (this.#flights.get(key) !== flight) return false;
    this.#flights.delete(key);
    this.#entries.delete(key);
    return true;
  }

  #keep(key: string, entry: Entry<Value>): void {
    if (this.#entries.size >= this.#maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, entry);
  }
}
