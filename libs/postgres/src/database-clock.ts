import type { Executor } from './database.js';
import { newId, type Uuid } from '@countersign/ids';
import { PollLoop } from '@countersign/schedule';

const REFRESH_MS = 10_000;
/** Readings of which the one with the shortest round trip counts: its error is at most half of that trip. */
const SAMPLES = 5;

const CLOCK_READING = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"`;

/** One reading: what the database said, and the monotonic times just before and after. */
export interface ClockSample {
  readonly sentMs: number;
  readonly databaseMs: number;
  readonly receivedMs: number;
}

/** Database time minus monotonic time, by the sample with the shortest round trip. Refuses an empty list. */
export function clockOffset(samples: readonly ClockSample[]): number {
  let best: ClockSample | undefined;
  for (const sample of samples) {
    if (best === undefined || sample.receivedMs - sample.sentMs < best.receivedMs - best.sentMs) best = sample;
  }
  if (best === undefined) throw new RangeError('no offset without a sample');
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
 * The database's time in this process: an offset from the monotonic clock, so that a jump of the local wall clock
 * changes nothing, refreshed every 10 s. For stamping ids and deadlines; what decides reads the clock in its statement.
 */
export class DatabaseClock {
  readonly #periodic: PollLoop;
  #offsetMs: number;

  private constructor(database: Executor, offsetMs: number, onError: (error: unknown) => void) {
    this.#offsetMs = offsetMs;
    this.#periodic = new PollLoop({
      everyMs: REFRESH_MS,
      work: async () => {
        this.#offsetMs = await readOffset(database);
        return false;
      },
      onError,
    });
  }

  /** Reads the clock first, so that no id is ever stamped with local time. */
  static async start(database: Executor, onError: (error: unknown) => void): Promise<DatabaseClock> {
    return new DatabaseClock(database, await readOffset(database), onError);
  }

  /** Unix milliseconds of the database, whole. While the database is away the last offset goes on. */
  nowMs(): number {
    return Math.floor(performance.now() + this.#offsetMs);
  }

  /** How far this machine's wall clock is ahead (or, negative, behind); readiness fails beyond 5 s. */
  get driftMs(): number {
    return Date.now() - this.nowMs();
  }

  /** A new id, stamped with the database's time. */
  newId(): Uuid {
    return newId(this.nowMs());
  }

  async stop(): Promise<void> {
    await this.#periodic.stop();
  }
}
