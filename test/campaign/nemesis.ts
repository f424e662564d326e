import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Mutex } from '../../apps/control-plane/src/events/mutex.js';
import type { BoundedDisk } from '../support/bounded-disk.js';
import type { AppPart, Part, StorePart } from '../support/parts.js';
import type { Random } from '../support/random.js';
import type { SteppedClock } from '../support/stepped-clock.js';
import type { ProxiedApp, System } from './system.js';

/** Pauses between two faults, and how long a fault lasts. */
const PAUSE_MS = { least: 300, most: 3_000 };
const FAULT_MS = { least: 300, most: 6_000 };
/** Of the faults, those that begin while the one before lasts. */
const BESIDE_SHARE = 0.3;
const FAILED_WEBHOOKS = 40;
const MINUTE_SECONDS = 60;

interface Fault {
  readonly name: string;
  /** Resolves when it is over. */
  readonly strike: (lastsMs: number) => Promise<void>;
}

/** Strikes the system with faults that a seed gives: which one, when, and how long. */
export class Nemesis {
  /** How often each fault has struck. */
  readonly struck = new Map<string, number>();
  /** Faults that could not be ended: an app that did not get ready again. */
  readonly failures: string[] = [];
  readonly #faults: readonly Fault[];
  readonly #lasting = new Map<Fault, Promise<void>>();
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** `previous`: the folder of another build, to which processes change and back; null for none. */
  constructor(
    system: System,
    private readonly random: Random,
    previous: string | null,
  ) {
    this.#faults = faultsOf(system, previous);
  }

  start(): void {
    this.#running = this.run();
  }

  /** Resolves when all faults are over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  private async run(): Promise<void> {
    while (await this.hasPaused()) await this.strike();
    await Promise.all(this.#lasting.values());
  }

  /** False once it is to stop. */
  private async hasPaused(): Promise<boolean> {
    const { signal } = this.#stopping;
    const pauseMs = this.random.between(PAUSE_MS.least, PAUSE_MS.most);
    return delay(pauseMs, true, { signal }).catch(() => false);
  }

  /** The numbers are drawn in a fixed order, so that the same seed gives the same faults whatever their timing. */
  private async strike(): Promise<void> {
    const fault = this.random.pick(this.#faults);
    const lastsMs = this.random.between(FAULT_MS.least, FAULT_MS.most);
    const isBeside = this.random.chance(BESIDE_SHARE);
    if (this.#lasting.has(fault)) return;
    this.struck.set(fault.name, (this.struck.get(fault.name) ?? 0) + 1);
    const lasting = fault
      .strike(lastsMs)
      .catch((error: unknown) => void this.failures.push(`${fault.name}: ${String(error)}`))
      .finally(() => this.#lasting.delete(fault));
    this.#lasting.set(fault, lasting);
    if (!isBeside) await lasting;
  }
}

/** A fault that has no length. */
const atOnce = (act: () => unknown) => (): Promise<void> => {
  act();
  return Promise.resolve();
};

function faultsOf(system: System, previous: string | null): readonly Fault[] {
  const { apps, postgres, redis, carrier, receiver, disk } = system;
  return [
    { name: 'connections of the carrier broken', strike: atOnce(() => carrier.drop()) },
    {
      name: 'webhooks answered 500',
      strike: atOnce(() => receiver.answerWith(...Array.from({ length: FAILED_WEBHOOKS }, () => 500))),
    },
    ...apps.flatMap((app) => faultsOfApp(app, previous)),
    ...inTurns([
      killed(postgres, 'PostgreSQL'),
      stopped(postgres, 'PostgreSQL'),
      ...(disk === null ? [] : [filled(disk, postgres)]),
    ]),
    ...(redis === null
      ? []
      : inTurns([
          killed(redis, 'Redis'),
          stopped(redis, 'Redis'),
          frozen(redis, 'Redis'),
          { name: 'Redis flushed', strike: () => flush(redis.url) },
        ])),
  ];
}

/** Faults of one process, one after the other: no start meets another one. */
function inTurns(faults: readonly Fault[]): Fault[] {
  const mutex = new Mutex();
  return faults.map(({ name, strike }) => ({ name, strike: (lastsMs) => mutex.runExclusive(() => strike(lastsMs)) }));
}

function faultsOfApp({ name, part, lines, clock }: ProxiedApp, previous: string | null): Fault[] {
  return [
    ...inTurns([
      killed(part, name),
      stopped(part, name),
      frozen(part, name),
      ...(previous === null ? [] : [changed(part, name, previous)]),
    ]),
    ...(clock === null ? [] : [stepped(clock, name, MINUTE_SECONDS), stepped(clock, name, -MINUTE_SECONDS)]),
    ...lines.flatMap(({ store, line }): Fault[] => [
      {
        name: `${name} to ${store} silent`,
        strike: async (lastsMs) => {
          line.freeze();
          await delay(lastsMs);
          line.thaw();
        },
      },
      {
        name: `${name} to ${store} cut`,
        strike: async (lastsMs) => {
          await line.cut();
          await delay(lastsMs);
          await line.mend();
        },
      },
      { name: `${name} to ${store} stranded`, strike: atOnce(() => line.strand()) },
    ]),
  ];
}

const killed = (part: Part, name: string): Fault => ({
  name: `${name} killed`,
  strike: async () => {
    await part.kill();
    await part.start();
  },
});

const stopped = (part: Part, name: string): Fault => ({
  name: `${name} restarted`,
  strike: async () => {
    await part.stop();
    await part.start();
  },
});

/** A step of an upgrade or of a rollback: the neighbours run the other build meanwhile. */
function changed(part: AppPart, name: string, previous: string): Fault {
  const present = part.dist;
  return {
    name: `${name} changed to the other build`,
    strike: async () => {
      await part.stop();
      part.dist = part.dist === present ? previous : present;
      await part.start();
    },
  };
}

const frozen = (part: { signal(signal: 'SIGSTOP' | 'SIGCONT'): void }, name: string): Fault => ({
  name: `${name} frozen`,
  strike: async (lastsMs) => {
    part.signal('SIGSTOP');
    await delay(lastsMs);
    part.signal('SIGCONT');
  },
});

/** Steps are as long as a step of NTP on a machine whose clock was wrong. */
const stepped = (clock: SteppedClock, name: string, seconds: number): Fault => ({
  name: `${name} with its clock ${seconds > 0 ? 'fast' : 'slow'}`,
  strike: async (lastsMs) => {
    clock.step(seconds);
    await delay(lastsMs);
    clock.step(0);
  },
});

/** PostgreSQL ends when it cannot write its log; then it is started again, as by a supervisor. */
const filled = (disk: BoundedDisk, postgres: StorePart): Fault => ({
  name: 'disk full',
  strike: async (lastsMs) => {
    disk.fill();
    await delay(lastsMs);
    disk.free();
    if (!postgres.isRunning) await postgres.start();
  },
});

async function flush(url: string): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null });
  client.on('error', () => undefined);
  await client.flushall().catch(() => undefined);
  client.disconnect();
}
