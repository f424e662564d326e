import { readStats, treeMicros } from './proc.js';
import { addMicros, type CpuMicros, type MeteredProcess, type Role } from './use.js';

const MICROS_PER_SECOND = 1_000_000;
const MS_PER_SECOND = 1_000;

function readMicros(processes: readonly MeteredProcess[]): number[] {
  if (processes.length === 0) return [];
  const stats = readStats();
  return processes.map(({ pid }) => treeMicros(pid, stats));
}

/** CPU time of some processes, and of this one where it has a role, from `start` to `stop`. Linux alone: it reads /proc. */
export class CpuMeter {
  #before: readonly number[] = [];
  #ownBefore = process.cpuUsage();

  constructor(
    private readonly processes: readonly MeteredProcess[],
    private readonly ownRole: Role | null = null,
  ) {}

  start(): this {
    this.#before = readMicros(this.processes);
    this.#ownBefore = process.cpuUsage();
    return this;
  }

  stop(): CpuMicros {
    const { user, system } = process.cpuUsage(this.#ownBefore);
    const after = readMicros(this.processes);
    const own: CpuMicros = this.ownRole === null ? {} : { [this.ownRole]: user + system };
    const each = this.processes.map(({ role }, at) => ({ [role]: (after[at] ?? 0) - (this.#before[at] ?? 0) }));
    return each.reduce<CpuMicros>(addMicros, own);
  }
}

/** The share of one core that the processes use together while `ms` go by. */
export async function coreShare(processes: readonly MeteredProcess[], ms: number): Promise<number> {
  const [meter, fromMs] = [new CpuMeter(processes).start(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, ms));
  const elapsedMs = performance.now() - fromMs;
  const micros = Object.values(meter.stop()).reduce((all, value) => all + value, 0);
  return micros / ((elapsedMs / MS_PER_SECOND) * MICROS_PER_SECOND);
}
