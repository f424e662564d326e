import type { BatchLimits } from '@countersign/postgres';

const MAX_IN_FLIGHT = 2;
const MAX_QUEUED_COMMANDS = 4_096;

/** @param maxBatch cards per transaction */
export const batchLimits = (maxBatch: number): BatchLimits => ({
  maxBatch,
  maxInFlight: MAX_IN_FLIGHT,
  maxQueued: MAX_QUEUED_COMMANDS,
});
