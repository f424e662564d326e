import { performance } from 'node:perf_hooks';
import { DeadlineError, withinDeadline } from './deadline.js';
import type { Logger } from './logger.js';

interface Step {
  readonly name: string;
  readonly deadlineMs: number;
  readonly run: () => void | Promise<void>;
}

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Ends the process; tests replace it. */
  readonly exit?: (code: number) => void;
}

/** Source of stop events: the process, or a test double. */
export interface StopSource {
  readonly connected?: boolean | undefined;
  on(event: string, listener: (...details: unknown[]) => void): unknown;
}

/**
 * The shutdown of a process: named steps, one after another in the order they were added, each with its own deadline.
 * A step that fails or times out is logged, and the next one runs. Runs once, however often it is requested.
 */
export class Shutdown {
  readonly #steps: Step[] = [];
  readonly #reloads: (() => void)[] = [];
  readonly #logger: Logger;
  readonly #exit: (code: number) => void;
  #running: Promise<void> | undefined;

  constructor(options: ShutdownOptions) {
    this.#logger = options.logger;
    this.#exit = options.exit ?? ((code) => process.exit(code));
  }

  /** Whether the shutdown has begun. */
  get started(): boolean {
    return this.#running !== undefined;
  }

  step(name: string, deadlineMs: number, run: () => void | Promise<void>): this {
    this.#steps.push({ name, deadlineMs, run });
    return this;
  }

  /** Registers a listener of SIGHUP: reads again what can change without a restart. Must not throw. */
  onReload(listener: () => void): this {
    this.#reloads.push(listener);
    return this;
  }

  /**
   * Runs on SIGTERM and SIGINT, when a parent with an IPC channel is gone, and, with exit code 1, on an uncaught
   * error: the state of the process is then unknown, and a supervisor starts a new one.
   */
  listen(source: StopSource = process): this {
    source.on('SIGTERM', () => void this.run('SIGTERM'));
    source.on('SIGINT', () => void this.run('SIGINT'));
    source.on('SIGHUP', () => {
      this.#logger.info('reloading');
      for (const reload of this.#reloads) reload();
    });
    if (source.connected === true) source.on('disconnect', () => void this.run('parent gone'));
    source.on('uncaughtException', (error: unknown, origin: unknown) => {
      this.#logger.fatal({ err: error, origin }, 'uncaught error');
      void this.run('uncaught error', 1);
    });
    return this;
  }

  /** Runs the steps and ends the process: with `exitCode`, or 1 if a step failed. */
  run(reason: string, exitCode = 0): Promise<void> {
    this.#running ??= this.#runSteps(reason, exitCode);
    return this.#running;
  }

  async #runSteps(reason: string, exitCode: number): Promise<void> {
    this.#logger.info({ reason }, 'stopping');
    let code = exitCode;
    for (const step of this.#steps) {
      if (!(await this.#runStep(step))) code = 1;
    }
    this.#logger.info({ exitCode: code }, 'stopped');
    this.#exit(code);
  }

  async #runStep({ name, deadlineMs, run }: Step): Promise<boolean> {
    const startedMs = performance.now();
    const tookMs = (): number => Math.round(performance.now() - startedMs);
    try {
      await withinDeadline(deadlineMs, run);
      this.#logger.info({ step: name, tookMs: tookMs() }, 'stop step done');
      return true;
    } catch (error) {
      const outcome = error instanceof DeadlineError ? 'stop step timed out' : 'stop step failed';
      this.#logger.error({ step: name, tookMs: tookMs(), deadlineMs, err: error }, outcome);
      return false;
    }
  }
}
