import { Redis } from 'ioredis';
import pg from 'pg';
import { coreShare } from '../cpu/meter.js';
import type { MeteredProcess } from '../cpu/use.js';
import { runEnvironment } from '../environment.js';
import type { RunningSubject } from '../processes.js';
import { type Environment, startControlPlane, startGateway, storeProcesses } from '../subjects.js';
import { seedDemo, type SeededDemo } from '../../support/demo.js';

/** A build under comparison and the servers of its own. */
export interface Build {
  readonly name: string;
  readonly dist: string;
  /** DATABASE_URL and so on, of a user that may create databases. */
  readonly stores: Environment;
}

/** A build whose processes run. */
export interface Side {
  readonly name: string;
  readonly demo: SeededDemo;
  readonly environment: Environment;
  readonly controlPlane: RunningSubject;
  /** Null where a section needs none. */
  readonly gateway: RunningSubject | null;
  /** PostgreSQL and Redis. */
  readonly stores: readonly MeteredProcess[];
  stop(): Promise<void>;
}

/**
 * Share of one core below which a side is idle. Idle applications with their servers use 3 % on average and up to 13 % in
 * one sample, when several timers fire together; after a stop of ten seconds the first sample is 53 %.
 */
const AT_REST_SHARE = 0.15;
const LOOK_MS = 200;
/** Consecutive samples below the limit: work that a timer triggers starts within a second. */
const LOOKS = 3;
const AT_REST_DEADLINE_MS = 20_000;

async function onServer(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}

async function flushQueues(redisUrl: string | undefined): Promise<void> {
  if (redisUrl === undefined || redisUrl === '') return;
  const redis = new Redis(redisUrl);
  await redis.flushdb();
  redis.disconnect();
}

let databasesMade = 0;
const running = new Set<RunningSubject>();

/** Continues every stopped application (SIGCONT), so that the bench can end. */
export function thawAll(): void {
  for (const app of running) app.thaw();
}

/**
 * Starts the applications of a build on a new database, which the build itself migrates and seeds as `npm start` does:
 * the bench knows nothing of its tables. `extra`: variables of the section.
 */
export async function startSide(
  { name, dist, stores }: Build,
  masterKey: Buffer,
  needs: { readonly gateway: boolean; readonly extra: Environment },
): Promise<Side> {
  const serverUrl = stores['DATABASE_URL'] ?? '';
  databasesMade += 1;
  const database = `bench_${databasesMade}`;
  await onServer(serverUrl, `CREATE DATABASE ${database}`);
  await flushQueues(stores['REDIS_URL']);
  const databaseUrl = Object.assign(new URL(serverUrl), { pathname: `/${database}` }).href;
  const environment = { ...runEnvironment(masterKey, { ...stores, DATABASE_URL: databaseUrl }), ...needs.extra };
  const demo = await seedDemo(environment, { dist });
  const controlPlane = await startControlPlane(`${name}, control plane`, environment, { dist });
  const gateway = needs.gateway ? await startGateway(`${name}, gateway`, environment, { dist }) : null;
  const apps = [controlPlane, ...(gateway === null ? [] : [gateway])];
  for (const app of apps) running.add(app);
  const stop = async (): Promise<void> => {
    for (const app of apps) app.thaw();
    await Promise.all(apps.map((app) => app.stop()));
    for (const app of apps) running.delete(app);
    await onServer(serverUrl, `DROP DATABASE ${database} WITH (FORCE)`);
  };
  return { name, demo, environment, controlPlane, gateway, stores: storeProcesses(environment), stop };
}

const thaw = ({ controlPlane, gateway }: Pick<Side, 'controlPlane' | 'gateway'>): void => {
  for (const app of [controlPlane, gateway]) app?.thaw();
};

/** Waits until the side has finished the work of earlier loads: events dispatched, expired sessions swept. */
async function settle({ name, controlPlane, gateway, stores }: Side): Promise<void> {
  const processes = [...controlPlane.processes, ...(gateway?.processes ?? []), ...stores];
  const untilMs = performance.now() + AT_REST_DEADLINE_MS;
  for (let quiet = 0; quiet < LOOKS;) {
    quiet = (await coreShare(processes, LOOK_MS)) < AT_REST_SHARE ? quiet + 1 : 0;
    if (performance.now() < untilMs) continue;
    process.stderr.write(`${name} is still at work after ${AT_REST_DEADLINE_MS} ms\n`);
    return;
  }
}

/**
 * Runs `work` while the applications of this side run (SIGCONT), and stops them (SIGSTOP) once they are idle again. Idle
 * applications would take 3 % of a core from the other side, stopped ones take nothing (0.1 % with Redis). Restarting them
 * for each turn would measure code that V8 has not optimised, which costs up to twice as much.
 */
export async function atTurn<Result>(side: Side, work: () => Promise<Result>): Promise<Result> {
  thaw(side);
  await settle(side);
  const result = await work();
  await settle(side);
  rest(side);
  return result;
}

function rest({ controlPlane, gateway }: Side): void {
  for (const app of [controlPlane, gateway]) app?.freeze();
}
