import { withinDeadline } from '@countersign/telemetry';
import type { FailureLog } from './failure-log.js';

/** BullMQ waits without end for an unreachable Redis; the queue holds nothing that would be lost. */
const QUEUE_CLOSE_MS = 1_000;

/** Closes a part of the queue within a deadline; a failure is logged. */
export const closeQueue = (failures: FailureLog, close: () => Promise<void>): Promise<void> =>
  withinDeadline(QUEUE_CLOSE_MS, close).catch(failures.about('shutdown: closing the event queue'));
