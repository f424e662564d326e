import { firstIdAt, ID_CLOCK_SLACK_MS, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';

/** What a phone of a test number takes to do anything, and a carrier to say what became of a code. */
export const ACTS_AFTER_SECONDS = 1;

/** What a step of the play has written. */
export interface StepResult {
  readonly eventIds: readonly Uuid[];
  /** Rows that took the step. */
  readonly count: number;
  /** Whether more may wait. */
  readonly full: boolean;
}

/** One step of the play: does what is due, in the caller's transaction. */
export type TestStep = (tx: Executor) => Promise<StepResult>;

/** Of what is still to be acted upon nothing has an older id, what a repeated request resumed included. */
const OLDEST_ID_MS = 24 * 60 * 60 * 1000;

/** The lowest id looked at, and the first that cannot exist yet: two or three partitions of the many. */
export function idWindow(nowMs: number): { readonly low: Uuid; readonly high: Uuid } {
  return { low: firstIdAt(nowMs - OLDEST_ID_MS), high: firstIdAt(nowMs + ID_CLOCK_SLACK_MS) };
}
