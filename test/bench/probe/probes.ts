import net from 'node:net';
import { text } from 'node:stream/consumers';
import type { MeteredProcess, Role } from '../cpu/use.js';
import type { CpuProfile } from '../profile/cpu-profile.js';
import type { ProbeReading } from './protocol.js';

/** Measurements of the agents in a subject's processes. */
export interface ProbeFigures {
  /** By all of them together; absent where no process has an agent. */
  readonly allocatedBytes?: number;
  readonly profiles: readonly RoleProfile[];
}

export interface RoleProfile {
  readonly role: Role;
  readonly profile: CpuProfile;
}

/** Set by `npm run bench -- --profile`: the folder of the profiles. */
export const PROFILE = 'BENCH_PROFILE';

/** Baselines are not profiled. */
const isProfiled = (role: Role): boolean =>
  process.env[PROFILE] !== undefined && (role === 'control plane' || role === 'gateway');

/** Opens and closes a measurement in every process that has an agent (see agent.ts); it costs one small write at each end. */
export class Probes {
  readonly #sockets: { readonly role: Role; readonly socket: net.Socket }[];

  /** Connects, so that `open` is received at once. */
  constructor(processes: readonly MeteredProcess[]) {
    this.#sockets = processes.flatMap(({ role, probePort }) =>
      probePort === undefined
        ? []
        : [{ role, socket: net.connect({ port: probePort, host: '127.0.0.1', noDelay: true }) }],
    );
  }

  open(): void {
    for (const { role, socket } of this.#sockets) socket.write(isProfiled(role) ? 'open profile\n' : 'open\n');
  }

  /** Ends the measurement at once and resolves when all agents have answered. */
  async close(): Promise<ProbeFigures> {
    const asked = this.#sockets.map(async ({ role, socket }) => {
      socket.write('close\n');
      return { role, ...(JSON.parse(await text(socket)) as ProbeReading) };
    });
    const readings = await Promise.all(asked);
    if (readings.length === 0) return { profiles: [] };
    return {
      allocatedBytes: readings.reduce((all, reading) => all + reading.allocatedBytes, 0),
      profiles: readings.flatMap(({ role, profile }) => (profile === null ? [] : [{ role, profile }])),
    };
  }
}
