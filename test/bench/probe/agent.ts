import inspector from 'node:inspector';
import net from 'node:net';
import { createInterface } from 'node:readline';
import v8 from 'node:v8';
import type { CpuProfile } from '../profile/cpu-profile.js';
import { allocatedBytes } from './allocation.js';
import { type ProbeReading, PROBE_PORT } from './protocol.js';

/**
 * Is loaded before a measured process (`node --import`) and measures it from within, when the load generator asks: what
 * cannot be read from outside. A connection is one measurement: the line `open` or `open profile`, then `close`, which is
 * answered by one line of JSON. Nothing is measured, and nothing costs time, while no measurement is open.
 */
const usedHeap = (): number => v8.getHeapStatistics().used_heap_size;

/** Fine enough that a run of a few seconds has thousands of samples; at this interval they cost a few per cent. */
const SAMPLE_MICROS = 500;

/** The CPU profiler of this process; its methods answer before they return. */
class CpuProfiler {
  readonly #session = new inspector.Session();

  start(): void {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
    this.#session.post('Profiler.start');
  }

  stop(): CpuProfile | null {
    let profile: CpuProfile | null = null;
    this.#session.post('Profiler.stop', (_error, result) => (profile = result.profile));
    this.#session.disconnect();
    return profile;
  }
}

/** One measurement. */
class Probe {
  readonly #collections = new v8.GCProfiler();
  readonly #profiler: CpuProfiler | null;
  readonly #usedBefore: number;

  constructor(profiles: boolean) {
    this.#profiler = profiles ? new CpuProfiler() : null;
    this.#profiler?.start();
    this.#collections.start();
    this.#usedBefore = usedHeap();
  }

  close(): ProbeReading {
    const usedAfter = usedHeap();
    const { statistics } = this.#collections.stop();
    const profile = this.#profiler?.stop() ?? null;
    return { allocatedBytes: allocatedBytes(this.#usedBefore, usedAfter, statistics), profile };
  }
}

function serve(socket: net.Socket): void {
  // The process ends when its own work ends.
  socket.unref();
  socket.on('error', () => socket.destroy());
  let probe: Probe | null = null;
  createInterface({ input: socket }).on('line', (line) => {
    if (line === 'close') socket.end(`${JSON.stringify(probe?.close())}\n`);
    else probe = new Probe(line === 'open profile');
  });
}

net.createServer({ noDelay: true }, serve).listen(Number(process.env[PROBE_PORT]), '127.0.0.1').unref();
