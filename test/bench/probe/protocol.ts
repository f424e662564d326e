import type { CpuProfile } from '../profile/cpu-profile.js';

/** The variable of a measured process with the port of its agent, on 127.0.0.1. */
export const PROBE_PORT = 'BENCH_PROBE_PORT';

/** An agent's answer: what its process did since the measurement began. */
export interface ProbeReading {
  /** On the heap of V8. */
  readonly allocatedBytes: number;
  /** Null unless the measurement asked for one. */
  readonly profile: CpuProfile | null;
}
