import type { Shutdown } from '@countersign/telemetry';
import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** Phases of the start, in order. The port of the API opens between `requests` and `operations`. */
export type StartPhase = 'subscriptions' | 'requests' | 'operations' | 'workers';

interface StopStep {
  readonly name: string;
  readonly deadlineMs: number;
  /** Run one after the other. The methods of one phase run at the same time. */
  readonly phases: readonly string[];
}

/** The stop, in order: requests and POSTs under way still need their stores. */
const STOP_STEPS = [
  // For the responses of requests that have been read.
  { name: 'stop listening, finish requests', deadlineMs: 5_000, phases: ['waits', 'connections', 'deadlines'] },
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

export type StopPhase = (typeof STOP_STEPS)[number]['phases'][number];

type PhaseMethod = () => unknown;

const START = Symbol('start phase');
const STOP = Symbol('stop phase');

/** The start runs this method of the provider in this phase and waits for it. */
export const StartsIn = (phase: StartPhase): MethodDecorator => SetMetadata(START, phase);

/** The stop runs this method of the provider in this phase and waits for it. */
export const StopsIn = (phase: StopPhase): MethodDecorator => SetMetadata(STOP, phase);

/** Starts and stops the providers of all modules by the phases that their methods declare. */
@Injectable()
export class Lifecycle {
  readonly #scanner = new MetadataScanner();
  readonly #atStop = new Map<StopPhase, PhaseMethod>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Resolves when all methods of the phase have. */
  async start(phase: StartPhase): Promise<void> {
    await runAll(this.methodsOf(START, phase));
  }

  /** Adds the stop of an object that is no provider. */
  onStop(phase: StopPhase, stop: PhaseMethod): void {
    this.#atStop.set(phase, stop);
  }

  addStepsTo(shutdown: Shutdown): Shutdown {
    for (const { name, deadlineMs, phases } of STOP_STEPS) {
      const methods = phases.map((phase) => [...this.methodsOf(STOP, phase), ...this.added(phase)]);
      shutdown.step(name, deadlineMs, async () => {
        for (const each of methods) await runAll(each);
      });
    }
    return shutdown;
  }

  private added(phase: StopPhase): PhaseMethod[] {
    const added = this.#atStop.get(phase);
    return added === undefined ? [] : [added];
  }

  /** Only classes that Nest instantiated can declare phases. */
  private methodsOf(key: symbol, phase: StartPhase | StopPhase): PhaseMethod[] {
    const wrappers = this.discovery.getProviders().filter((wrapper) => !wrapper.isNotMetatype);
    return wrappers.flatMap(({ instance }: { instance: unknown }) => {
      if (typeof instance !== 'object' || instance === null) return [];
      const methods = instance as Record<string, PhaseMethod>;
      return this.#scanner.getAllMethodNames(Object.getPrototypeOf(instance) as object).flatMap((name) => {
        const method = methods[name];
        return method !== undefined && Reflect.getMetadata(key, method) === phase ? [() => method.call(instance)] : [];
      });
    });
  }
}

async function runAll(methods: readonly PhaseMethod[]): Promise<void> {
  await Promise.all(methods.map((run) => run()));
}
