import { readinessOf, type DatabaseClock, type Executor } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';

export interface ReadinessParts {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'driftMs'>;
  /** Resolves when the queue's store answers. */
  readonly pingQueue: () => Promise<unknown>;
}

/**
 * What must work before requests are sent here. The queue must have answered once, so that a wrong address is found at
 * boot; losing it later makes nothing unready, since it only rings a bell that the relay does not need.
 */
export function readinessChecks({ database, clock, pingQueue }: ReadinessParts): Readonly<Record<string, Check>> {
  let queueAnswered = false;
  return {
    ...readinessOf(database, clock),
    queue: async () => {
      if (!queueAnswered) await pingQueue();
      queueAnswered = true;
    },
  };
}
