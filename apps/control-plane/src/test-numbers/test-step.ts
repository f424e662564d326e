import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';

/** Seconds until a simulated phone acts, and until the simulated carrier sends a receipt. */
export const ACTS_AFTER_SECONDS = 1;

/** The writes of one step. */
export interface StepResult {
  readonly eventIds: readonly Uuid[];
  /** Number of processed rows. */
  readonly count: number;
  /** Whether more rows may be due. */
  readonly full: boolean;
}

/** One step of the simulation: processes the due rows in the caller's transaction. */
export type TestStep = (tx: Executor) => Promise<StepResult>;

/** No due row has an older id, including rows with the id of an earlier attempt. */
const OLDEST_ID_MS = 24 * 60 * 60 * 1000;

/**
 * The range of ids to read, so that only two or three partitions are read: lowest id, and first id that cannot exist yet.
 */
export function idWindow(nowMs: number): { readonly low: Uuid; readonly high: Uuid } {
  return { low: firstIdAt(nowMs - OLDEST_ID_MS), high: firstIdAt(nowMs + ID_CLOCK_SLACK_MS) };
}
