import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Shutdown } from '@countersign/telemetry';
import { START_PHASES, startMethodsOf, STOP_STEPS, stopMethodsOf, type StopPhase } from './phases.js';

/** Runs the methods that components declare for the phases of the start and of the stop (`OnStart`, `OnStop`). */
@Injectable()
export class Lifecycle {
  constructor(private readonly discovery: DiscoveryService) {}

  /** Phase after phase, and in a phase one component after another. Rejects with the first error. */
  async start(): Promise<void> {
    const components = this.components();
    for (const phase of START_PHASES) {
      for (const component of components)
        for (const method of startMethodsOf(component)) if (method.phase === phase) await method.run.call(component);
    }
  }

  /** Adds the steps of the stop. `closeQueues` runs in the phase of that name. */
  addStopSteps(shutdown: Shutdown, closeQueues: () => Promise<void>): Shutdown {
    for (const { name, deadlineMs, phases } of STOP_STEPS)
      shutdown.step(name, deadlineMs, async () => {
        for (const phase of phases) await (phase === 'close queues' ? closeQueues() : this.stopComponents(phase));
      });
    return shutdown;
  }

  private async stopComponents(phase: StopPhase): Promise<void> {
    await Promise.all(
      this.components()
        .flatMap((component) => stopMethodsOf(component).map((method) => ({ component, ...method })))
        .filter((method) => method.phase === phase)
        .map(async ({ component, run }) => run.call(component)),
    );
  }

  /** All providers that are objects, in the order of the modules' lists. */
  private components(): object[] {
    return this.discovery.getProviders().flatMap(({ instance }: { readonly instance: unknown }) => {
      return typeof instance === 'object' && instance !== null ? [instance] : [];
    });
  }
}
