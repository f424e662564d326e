import type { BatchLimits } from '@countersign/postgres';

const DEFAULT_MAX_BATCH = 64;
const DEFAULT_MAX_IN_FLIGHT = 2;
const MAX_QUEUED_COMMANDS = 4_096;

/** Cards per transaction (default 64) and transactions in flight (default 2) of one store. */
export interface BatchSize {
  readonly maxBatch: number;
  readonly maxInFlight: number;
}

export function batchLimits(size: Partial<BatchSize> = {}): BatchLimits {
  const { maxBatch = DEFAULT_MAX_BATCH, maxInFlight = DEFAULT_MAX_IN_FLIGHT } = size;
  return { maxBatch, maxInFlight, maxQueued: MAX_QUEUED_COMMANDS };
}
