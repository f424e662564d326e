import { CpuMeter } from '../cpu/meter.js';
import type { MeteredProcess } from '../cpu/use.js';
import { type ProbeFigures, Probes } from '../probe/probes.js';
import { type Measure, withProbes } from '../report.js';
import { quantile } from '../statistics.js';

/** Latencies kept: enough for every run of the bench; further answers are counted only. */
const MAX_LATENCIES = 2_000_000;
const MS_PER_SECOND = 1_000;

/**
 * The measured part of a load: answers, latencies, allocated memory of the given processes, and CPU time of them and of the
 * load generator, all from `open` to `close`. The generator reads the CPU counters itself, because another process would read them late on a busy
 * machine.
 */
export class LoadWindow {
  readonly #latenciesMs: number[] = [];
  readonly #meter: CpuMeter;
  readonly #probes: Probes;
  #probed: Promise<ProbeFigures> | null = null;
  #answered = 0;
  #errors = 0;
  #openedMs = 0;
  #state: 'before' | 'open' | 'closed' = 'before';
  #result: Measure | null = null;

  constructor(private readonly processes: readonly MeteredProcess[] = []) {
    this.#meter = new CpuMeter(processes, 'load generator');
    this.#probes = new Probes(processes);
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** The counters are read after the clock at both ends, so that both intervals include one reading of them. */
  open(): void {
    this.#state = 'open';
    this.#probes.open();
    this.#openedMs = performance.now();
    this.#meter.start();
  }

  /** Counts while the window is open. */
  answered(latencyMs: number, well: boolean): void {
    if (this.#state !== 'open') return;
    this.#answered += 1;
    if (!well) this.#errors += 1;
    if (this.#latenciesMs.length < MAX_LATENCIES) this.#latenciesMs.push(latencyMs);
  }

  /** A request without an answer. */
  failed(): void {
    if (this.#state === 'open') this.#errors += 1;
  }

  close(): void {
    if (this.#state !== 'open') throw new Error(`a window is closed that is ${this.#state}`);
    this.#state = 'closed';
    const seconds = (performance.now() - this.#openedMs) / MS_PER_SECOND;
    const micros = this.#meter.stop();
    this.#probed = this.#probes.close();
    const sorted = this.#latenciesMs.sort((a, b) => a - b);
    this.#result = {
      perSecond: Math.round(this.#answered / seconds),
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      errors: this.#errors,
      ...(this.processes.length === 0 ? {} : { cpu: { operations: this.#answered, micros } }),
    };
  }

  /** Waits for the answers of the agents. */
  async measure(): Promise<Measure> {
    if (this.#result === null || this.#probed === null) throw new Error('the window was not closed');
    return withProbes(this.#result, this.#answered, await this.#probed);
  }
}
