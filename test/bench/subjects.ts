import type { MeteredProcess } from './cpu/use.js';
import { freePort } from '../support/free-port.js';
import { type RunningSubject, type Subject, startSubject } from './processes.js';

/** The environment of every process of the run: the stores, the keys, the certificate. */
export type Environment = Readonly<Record<string, string>>;

/** Variables of a control plane that posts webhooks to receivers on this machine, as fast as it can. */
export const LOCAL_WEBHOOKS: Environment = {
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_HOST_PER_SECOND: '1000000',
};

async function opsUrl(): Promise<{ port: string; readyUrl: string }> {
  const port = String(await freePort());
  return { port, readyUrl: `http://127.0.0.1:${port}/readyz` };
}

/** How an application is started. */
export interface AppOptions {
  /** Limits all of its batchers, for the comparison with one statement per request. */
  readonly batch?: number;
  /** The folder of its build; without it, that of the bench itself. */
  readonly dist?: string;
}

const batchOf = ({ batch }: AppOptions): Environment =>
  batch === undefined ? {} : { BATCH_MAX_COMMANDS: String(batch) };

const distOf = ({ dist }: AppOptions): AppOptions => (dist === undefined ? {} : { dist });

/** The run's own servers; those of the user may be on another machine and are not measured. */
export function storeProcesses(environment: Environment): MeteredProcess[] {
  const { BENCH_POSTGRES_PID: postgres, BENCH_REDIS_PID: redis, REDIS_URL: redisUrl } = environment;
  return [
    ...(postgres === undefined ? [] : [{ role: 'PostgreSQL', pid: Number(postgres) } as const]),
    ...(redis === undefined || redisUrl === '' ? [] : [{ role: 'Redis', pid: Number(redis) } as const]),
  ];
}

/** The product's control plane. */
export async function startControlPlane(
  name: string,
  environment: Environment,
  options: AppOptions = {},
): Promise<RunningSubject> {
  const port = await freePort();
  const ops = await opsUrl();
  return startSubject({
    name,
    role: 'control plane',
    ...distOf(options),
    script: 'apps/control-plane/src/main.js',
    port,
    readyUrl: ops.readyUrl,
    env: {
      ...environment,
      ...batchOf(options),
      CONTROL_PLANE_PORT: String(port),
      CONTROL_PLANE_OPS_PORT: ops.port,
      LOG_LEVEL: 'warn',
    },
  });
}

/** The product's gateway, listening for aggregators. */
export async function startGateway(
  name: string,
  environment: Environment,
  options: AppOptions = {},
): Promise<RunningSubject> {
  const port = await freePort();
  const ops = await opsUrl();
  return startSubject({
    name,
    role: 'gateway',
    ...distOf(options),
    script: 'apps/gateway/src/main.js',
    port,
    readyUrl: ops.readyUrl,
    env: {
      ...environment,
      ...batchOf(options),
      // All MOs of a measurement may come from one phone.
      MO_SENDER_PER_SECOND: '1000000',
      GATEWAY_SMPP_PORT: String(port),
      GATEWAY_SMPP_TLS_PORT: String(await freePort()),
      GATEWAY_HTTP_PORT: environment['GATEWAY_HTTP_PORT'] ?? String(await freePort()),
      GATEWAY_OPS_PORT: ops.port,
      LOG_LEVEL: 'warn',
    },
  });
}

/** The simulator, as the RBM service; its SMSC is idle. */
export async function startSimulator(name: string, port: number, environment: Environment): Promise<Subject> {
  return startSubject({
    name,
    role: 'load generator',
    script: 'apps/simulator/src/main.js',
    port,
    readyUrl: `http://127.0.0.1:${port}/healthz`,
    env: {
      ...environment,
      SIMULATOR_HTTP_PORT: String(port),
      SIMULATOR_SMPP_PORT: String(await freePort()),
      SIMULATOR_SYSTEM_ID: 'simulator',
      SIMULATOR_PASSWORD: 'bench',
      LOG_LEVEL: 'warn',
    },
  });
}

/** A subject that is no process of the run, or one that has ended before its memory could be measured. */
export const withoutProcess = (name: string): Subject => ({
  name,
  port: 0,
  processes: [],
  rssMiB: () => 0,
  stop: () => Promise.resolve(),
});

/** A baseline: one script of this folder on one port. */
export async function startBaseline(name: string, script: string, environment: Environment): Promise<Subject> {
  const port = await freePort();
  return startSubject({
    name,
    role: 'baseline',
    script: `test/bench/subjects/${script}`,
    port,
    env: { ...environment, PORT: String(port) },
  });
}
