import type { Shutdown } from '@countersign/telemetry';
import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { START, STOP, type StopStep } from './phases.js';

type PhaseMethod = () => void | Promise<void>;

/** Starts and stops the providers of all modules by the phases that their methods declare (`phaseDecorators`). */
@Injectable()
export class Lifecycle {
  readonly #scanner = new MetadataScanner();
  readonly #added = new Map<string, PhaseMethod>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** Phase after phase, and in a phase one provider after another. Rejects with the first error. */
  async start(phases: readonly string[]): Promise<void> {
    for (const phase of phases) {
      for (const run of this.methodsOf(START, phase)) await run();
    }
  }

  /** Adds the stop of an object that is no provider. Call it before `addStopSteps`. */
  onStop(phase: string, stop: PhaseMethod): void {
    this.#added.set(phase, stop);
  }

  /** Throws for an added stop whose phase is in no step. */
  addStopSteps(shutdown: Shutdown, steps: readonly StopStep[]): Shutdown {
    const known = new Set(steps.flatMap(({ phases }) => phases));
    for (const phase of this.#added.keys()) if (!known.has(phase)) throw new Error(`no step has the phase "${phase}"`);
    for (const { name, deadlineMs, phases } of steps) {
      const methods = phases.map((phase) => [...this.methodsOf(STOP, phase), ...this.addedTo(phase)]);
      shutdown.step(name, deadlineMs, async () => {
        for (const concurrent of methods) await Promise.all(concurrent.map(async (run) => run()));
      });
    }
    return shutdown;
  }

  private addedTo(phase: string): PhaseMethod[] {
    const added = this.#added.get(phase);
    return added === undefined ? [] : [added];
  }

  /** In the order of the modules' lists. Only classes that Nest instantiated can declare phases. */
  private methodsOf(key: symbol, phase: string): PhaseMethod[] {
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
