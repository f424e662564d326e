import { readinessOf, type DatabaseClock, type Executor } from '@countersign/postgres';
import type { Check } from '@countersign/telemetry';

export interface ReadinessParts {
  readonly database: Executor;
  readonly clock: Pick<DatabaseClock, 'driftMs'>;
  /** Resolves when the queue's store answers. */
  readonly pingQueue: () => Promise<unknown>;
}

/**
 * The conditions of readiness. The queue must have answered once, so that a wrong address is found at boot. A later loss of
 * the queue does not make the process unready, because it carries only notifications and polling replaces them.
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
