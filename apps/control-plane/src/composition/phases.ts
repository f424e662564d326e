import { phaseDecorators, type StopStep } from '@countersign/composition';

/** Phases of the start before the port of the API opens, in order. */
export const PHASES_BEFORE_REQUESTS = ['partitions', 'subscriptions', 'requests'] as const;
/** Phases of the start after it. */
export const PHASES_AFTER_REQUESTS = ['operations', 'workers'] as const;

type StartPhase = (typeof PHASES_BEFORE_REQUESTS | typeof PHASES_AFTER_REQUESTS)[number];

/** The steps of the stop, in order: requests and POSTs under way still need their stores. */
export const STOP_STEPS = [
  // Unready, and still serving: SHUTDOWN_DELAY_SECONDS at most.
  { name: 'wait for load balancers', deadlineMs: 61_000, phases: ['waits'] },
  // For the responses of requests that have been read.
  { name: 'stop listening, finish requests', deadlineMs: 5_000, phases: ['connections', 'deadlines'] },
  {
    name: 'stop the workers',
    // POSTs under way have 5 s of this; the rest is for the other phases.
    deadlineMs: 7_000,
    // The last dispatch of the outbox may still claim deliveries.
    phases: ['consumers', 'maintenance', 'outbox', 'deliveries', 'delivery maintenance', 'realtime', 'tickets'],
  },
  { name: 'drain the batchers', deadlineMs: 3_000, phases: ['batchers'] },
  { name: 'close the queue', deadlineMs: 3_000, phases: ['queue', 'modules'] },
  { name: 'close the database', deadlineMs: 3_000, phases: ['connections of stores', 'database'] },
  { name: 'close operations', deadlineMs: 3_000, phases: ['operations'] },
] as const satisfies readonly StopStep[];

type StopPhase = (typeof STOP_STEPS)[number]['phases'][number];

export const { OnStart, OnStop } = phaseDecorators<StartPhase, StopPhase>();
