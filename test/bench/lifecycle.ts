import type { PlainSqlTask } from './load/plain-sql.js';
import type { VerificationsTask } from './load/verifications.js';
import { findPgbench, runPgbench } from './pgbench.js';
import { phones } from './phones.js';
import { type PlainStatement, preparePlainRows } from './plain-rows.js';
import { runLoad } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate, type Contender } from './rounds.js';
import type { Demo } from './seed.js';
import {
  type Environment,
  LOCAL_WEBHOOKS,
  startControlPlane,
  startGateway,
  storeProcesses,
  withoutProcess,
} from './subjects.js';
import { warmUp } from './warm-up.js';

const SECTION = 'lifecycle';
const PHONES = 4_000;
/** Concurrent verifications, from the create to the last webhook or event. */
const UNDER_WAY = 200;
const PLAIN_CLIENTS = 16;

type Figures = { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] };

/** The stores of queues and bus; `''` in the environment means none. */
interface Queues {
  readonly words: string;
  readonly redisUrl: string;
  readonly reachFor: string;
}

const ON_POSTGRES: Queues = { words: 'PostgreSQL alone', redisUrl: '', reachFor: '>= 0.2' };

/** The same rows by plain SQL: by pgbench if the machine has it, else by a loop of the bench. */
function plainSql(environment: Environment, transactions: PlainStatement[][], seconds: number): Contender {
  const task: PlainSqlTask = {
    databaseUrl: environment['DATABASE_URL'] ?? '',
    transactions,
    clients: PLAIN_CLIENTS,
    seconds,
    processes: storeProcesses({ ...environment, REDIS_URL: '' }),
  };
  const pgbench = findPgbench();
  const by = pgbench?.words ?? 'a loop on npm pg, no pgbench here';
  return {
    subject: withoutProcess(`plain SQL, three commits, ${PLAIN_CLIENTS} clients (${by})`),
    run: () => (pgbench === null ? runLoad<Measure>('plain-sql.js', task) : runPgbench(pgbench, task)),
  };
}

async function onQueues(
  queues: Queues,
  environment: Environment,
  demo: Demo,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Figures> {
  const own = { ...environment, ...LOCAL_WEBHOOKS, REDIS_URL: queues.redisUrl };
  const product = await startControlPlane('countersign', own);
  const gateway = await startGateway('gateway', own);
  const { apiKey, accountId, brandId, systemId, password } = demo;
  const task: VerificationsTask = {
    port: product.port,
    apiKey,
    accountId,
    brandId,
    smpp: { port: gateway.port, systemId, password },
    phones: phones(PHONES),
    underWay: UNDER_WAY,
    seconds,
    processes: [...product.processes, ...gateway.processes, ...storeProcesses(own)],
  };
  const verifications = (): Promise<Measure> => runLoad<Measure>('verifications.js', task);
  try {
    await warmUp(`${SECTION} on ${queues.words}`, verifications);
    const name = `create, SMS, webhook, frame: on ${queues.words}`;
    const plain = plainSql(environment, await preparePlainRows(demo.database), seconds);
    const rows = await alternate(SECTION, rounds, [plain, { subject: { ...product, name }, run: verifications }]);
    const value = ratioOf(rows[1], rows[0]);
    const ratio = { section: SECTION, name: `of plain SQL, on ${queues.words}`, value, reachFor: queues.reachFor };
    return { rows, ratios: [ratio] };
  } finally {
    await Promise.all([gateway.stop(), product.stop()]);
  }
}

/**
 * Whole verifications with everything on one machine: HTTPS create, the SMS that approves it, its webhook and its realtime
 * event, against plain SQL that writes the same rows one verification at a time.
 */
export async function benchLifecycle(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const redisUrl = environment['REDIS_URL'];
  const kinds = redisUrl === undefined ? [] : [{ words: 'Redis', redisUrl, reachFor: '>= 0.45' }];
  const figures: Figures[] = [];
  for (const queues of [...kinds, ON_POSTGRES]) {
    figures.push(await onQueues(queues, environment, demo, { rounds, seconds }));
  }
  return { rows: figures.flatMap(({ rows }) => rows), ratios: figures.flatMap(({ ratios }) => ratios) };
}
