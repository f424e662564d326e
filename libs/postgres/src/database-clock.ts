import type { Executor } from './executor.js';
import { type IdSource, newId, type Uuid } from '@countersign/ids';
import { PollLoop } from '@countersign/schedule';

const REFRESH_MS = 10_000;
/** Number of readings; the one with the shortest round trip is used: its error is at most half of that trip. */
const SAMPLES = 5;

const CLOCK_READING = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/** One reading: the database's time, and the monotonic times just before and after. */
export interface ClockSample {
  readonly sentMs: number;
  readonly databaseMs: number;
  readonly receivedMs: number;
}

/** Database time minus monotonic time, from the sample with the shortest round trip. Throws for an empty list. */
export function clockOffset(samples: readonly ClockSample[]): number {
  let best: ClockSample | undefined;
  for (const sample of samples) {
    if (best === undefined || sample.receivedMs - sample.sentMs < best.receivedMs - best.sentMs) best = sample;
  }
  if (best === undefined) throw new RangeError('no clock offset without a sample');
  return best.databaseMs - (best.sentMs + best.receivedMs) / 2;
}

async function readOffset(database: Executor): Promise<number> {
  const samples: ClockSample[] = [];
  for (let count = 0; count < SAMPLES; count++) {
    const sentMs = performance.now();
    const [row] = await database.query<{ nowMs: number }>(CLOCK_READING);
    const receivedMs = performance.now();
    if (row !== undefined) samples.push({ sentMs, databaseMs: row.nowMs, receivedMs });
  }
  return clockOffset(samples);
}

/**
 * The database's time in this process: an offset from the monotonic clock, so that a jump of the local wall clock has
 * no effect, refreshed every 10 s. For ids and deadlines; decisions read the clock in their statement.
 */
export class DatabaseClock implements IdSource {
  readonly #pollLoop: PollLoop;
  #offsetMs: number;

  private constructor(database: Executor, offsetMs: number, onError: (error: unknown) => void) {
    this.#offsetMs = offsetMs;
    this.#pollLoop = new PollLoop({
      everyMs: REFRESH_MS,
      work: async () => {
        this.#offsetMs = await readOffset(database);
        return false;
      },
      onError,
    });
  }

  /** Reads the clock first, so that no id contains local time. */
  static async start(database: Executor, onError: (error: unknown) => void): Promise<DatabaseClock> {
    return new DatabaseClock(database, await readOffset(database), onError);
  }

  /** Unix milliseconds of the database, an integer. While the database is unavailable the last offset is used. */
  nowMs(): number {
    return Math.floor(performance.now() + this.#offsetMs);
  }

  /** Milliseconds by which this machine's wall clock is ahead (negative: behind); readiness fails beyond 5 s. */
  get driftMs(): number {
    return Date.now() - this.nowMs();
  }

  /** A new id with the database's time. */
  newId(): Uuid {
    return newId(this.nowMs());
  }

  async stop(): Promise<void> {
    await this.#pollLoop.stop();
  }
}
