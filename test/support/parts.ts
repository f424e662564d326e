import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createApiKey } from '@countersign/keys';
import { ensureCertificates } from '../../config/stack/certificates.mjs';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { migrated } from './database.js';
import { stopProcess } from './programs.js';
import { until } from './until.js';

const DIST = path.resolve('dist');
/** An app may start while its stores are silent or restart, beside a load on all cores. */
const READY_MS = 120_000;
const STOP_MS = 15_000;

/** One process of the product that a test can kill and restart, on the same port with the same data. */
export interface Part {
  readonly name: string;
  /** Resolves when the part is ready. */
  start(): Promise<void>;
  /** SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const hasExited = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const endProcess = (child: ChildProcess, signal: NodeJS.Signals): Promise<void> =>
  stopProcess(child, { signal, killAfterMs: STOP_MS });

/** An app from dist, ready when `/readyz` answers 200. */
export class AppPart implements Part {
  /** The build that its next start is of. */
  dist = DIST;
  #child: ChildProcess | undefined;

  constructor(
    readonly name: string,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly opsPort: number,
    /** Receives the log; without one only standard error is shown. */
    private readonly logFile: string | null = null,
  ) {}

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`${this.name} was never started`);
    return this.#child.pid;
  }

  /** Whether the process has not ended since its last start. */
  get isRunning(): boolean {
    return this.#child !== undefined && !hasExited(this.#child);
  }

  /** Resident memory in MiB (proc(5)). */
  get residentMib(): number {
    const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1];
    return Number(kib) / 1024;
  }

  get readyUrl(): string {
    return `http://127.0.0.1:${this.opsPort}/readyz`;
  }

  /** The port in this variable of its environment. */
  port(variable: string): number {
    return Number(this.environment[variable]);
  }

  /** Restarts a process that exits before it is ready, as a supervisor does. */
  async start(): Promise<void> {
    await until(`${this.name} is ready`, READY_MS, () => {
      if (this.#child === undefined || hasExited(this.#child)) this.#child = this.#fork();
      return fetch(this.readyUrl).then(
        (response) => response.ok,
        () => false,
      );
    });
  }

  #fork(): ChildProcess {
    const log = this.logFile === null ? null : openSync(this.logFile, 'a');
    const child = fork(path.join(this.dist, `apps/${this.name}/src/main.js`), [], {
      env: { ...process.env, ...this.environment },
      stdio: ['ignore', log ?? 'ignore', log ?? 'inherit', 'ipc'],
    });
    if (log !== null) closeSync(log);
    return child;
  }

  async kill(): Promise<void> {
    if (this.#child !== undefined) await endProcess(this.#child, 'SIGKILL');
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined) await endProcess(this.#child, 'SIGTERM');
  }

  /** Pauses or continues the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }
}

interface RunningServer {
  readonly url: string;
  readonly gatewayUrl?: string;
  readonly ownerUrl?: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** A store server; a start that fails because of the remains of a killed one is retried. */
export class StorePart implements Part {
  #running: RunningServer | undefined;

  constructor(
    readonly name: string,
    private readonly launch: () => Promise<RunningServer>,
  ) {}

  get url(): string {
    if (this.#running === undefined) throw new Error(`${this.name} was never started`);
    return this.#running.url;
  }

  /** PostgreSQL only: URL of the role of gateways. */
  get gatewayUrl(): string {
    return this.#running?.gatewayUrl ?? this.url;
  }

  /** PostgreSQL only: URL of the role that owns the tables. */
  get ownerUrl(): string {
    return this.#running?.ownerUrl ?? this.url;
  }

  /** Whether the server has not ended since its last start. */
  get isRunning(): boolean {
    return this.#running !== undefined && !hasExited(this.#running.child);
  }

  async start(): Promise<void> {
    await until(`${this.name} is ready`, READY_MS, async () => {
      this.#running = await this.launch().catch(() => undefined);
      return this.#running !== undefined;
    });
  }

  async kill(): Promise<void> {
    if (this.#running !== undefined) await endProcess(this.#running.child, 'SIGKILL');
  }

  /** Pauses or continues the server. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#running?.child.kill(signal);
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }
}

/** The product as separate processes over its own stores, in one temporary folder. */
export interface Parts {
  readonly controlPlane: AppPart;
  readonly gateway: AppPart;
  readonly postgres: StorePart;
  readonly redis: StorePart | null;
  readonly databaseUrl: string;
  readonly baseUrl: string;
  readonly caFile: string;
  readonly smppPort: number;
  /** Environment of the apps, with the migration URL for the seed. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export type Queues = 'redis' | 'postgresql';

export const isRedisInstalled = (): boolean => findRedis() !== undefined;

export async function startStores(
  dataDir: string,
  queues: Queues,
): Promise<{ readonly postgres: StorePart; readonly redis: StorePart | null }> {
  const postgresPort = await freePort();
  const log = (): undefined => undefined;
  const postgres = new StorePart('postgres', () => startPostgres({ dataDir, log, port: postgresPort }));
  await postgres.start();
  if (queues === 'postgresql') return { postgres, redis: null };
  const redisPort = await freePort();
  const redis = new StorePart('redis', () => startRedis({ dataDir, log, port: redisPort }));
  await redis.start();
  return { postgres, redis };
}

/** Settings of apps on loopback under load. */
export const COMMON_SETTINGS = {
  NODE_ENV: 'development',
  LOG_LEVEL: 'error',
  MO_SENDER_PER_SECOND: '1000000',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_HOST_PER_SECOND: '10000',
} as const;

export const newSecrets = (): Readonly<Record<string, string>> => ({
  COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
  COUNTERSIGN_ENTROPY_KEYS: `1:${randomBytes(32).toString('base64')}`,
  COUNTERSIGN_ADMIN_KEY: createApiKey('admin'),
});

const freePortsFor = async (variables: readonly string[]): Promise<Record<string, string>> => {
  const ports: Record<string, string> = {};
  for (const variable of variables) ports[variable] = String(await freePort());
  return ports;
};

export const controlPlanePorts = (): Promise<Record<string, string>> =>
  freePortsFor(['CONTROL_PLANE_PORT', 'CONTROL_PLANE_OPS_PORT']);

export const gatewayPorts = (): Promise<Record<string, string>> =>
  freePortsFor(['GATEWAY_SMPP_PORT', 'GATEWAY_SMPP_TLS_PORT', 'GATEWAY_HTTP_PORT', 'GATEWAY_OPS_PORT']);

/** An app whose ports are in its environment. */
export function appPart(
  name: 'control-plane' | 'gateway',
  environment: Readonly<Record<string, string>>,
  logFile: string | null = null,
): AppPart {
  const opsPort = environment[name === 'gateway' ? 'GATEWAY_OPS_PORT' : 'CONTROL_PLANE_OPS_PORT'];
  return new AppPart(name, environment, Number(opsPort), logFile);
}

/** Starts PostgreSQL, Redis if selected, and both apps; secrets and certificate are created for this run. */
export async function startParts(queues: Queues): Promise<Parts> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-parts-'));
  const { postgres, redis } = await startStores(dataDir, queues);
  const certificates = await ensureCertificates({ dataDir, hosts: ['127.0.0.1'], log: () => undefined });
  const secrets = newSecrets();
  const environment: Record<string, string> = {
    ...secrets,
    ...COMMON_SETTINGS,
    DATABASE_URL: postgres.url,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
    TLS_CERT_FILE: certificates.certFile,
    TLS_KEY_FILE: certificates.keyFile,
    ...(await controlPlanePorts()),
    ...(await gatewayPorts()),
  };
  await migrated(postgres);
  const controlPlane = appPart('control-plane', environment);
  const gateway = appPart('gateway', { ...environment, DATABASE_URL: postgres.gatewayUrl });
  await Promise.all([controlPlane.start(), gateway.start()]);
  return {
    controlPlane,
    gateway,
    postgres,
    redis,
    databaseUrl: postgres.url,
    baseUrl: `https://127.0.0.1:${controlPlane.port('CONTROL_PLANE_PORT')}`,
    caFile: certificates.caFile,
    smppPort: gateway.port('GATEWAY_SMPP_PORT'),
    environment: { ...environment, DATABASE_MIGRATION_URL: postgres.ownerUrl },
    stop: async () => {
      await Promise.all([controlPlane.stop(), gateway.stop()]);
      await redis?.stop();
      await postgres.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
