import { CONNECT_TIMEOUT_MS, connectionSettings } from '@countersign/postgres';
import {
  grantDaemonRole,
  type DaemonRole,
  type OwnerQuery,
  SchemaOutdated,
  usesPooler,
} from '@countersign/postgres/schema';
import {
  assertSchemaCompatibility,
  type ConnectionOptions,
  LATEST_SCHEMA_VERSION,
  RedisConnection,
  runMigrations,
  SchemaMigrationRequiredError,
  setDefaultBackendFactory,
  type WorkerOptions,
} from 'bullmq';
import pg from 'pg';
import { receivesNotifications } from './notification-check.js';
import { createQueueRedis } from './queue-redis.js';
import { redisOptions, SILENT_SOCKET_MS } from './redis-client.js';
import { createRetryingBackend } from './retrying-backend.js';

export interface QueueStoreOptions {
  /** `REDIS_URL_FORM`; null uses PostgreSQL for job notifications. */
  readonly redisUrl: string | null;
  /** Without a pooler when there is no Redis: BullMQ's PostgreSQL backend uses LISTEN and settings of its session. */
  readonly databaseUrl: string;
}

/** A producer only adds jobs; a worker blocks until there is one. */
export type QueueUse = 'producer' | 'worker';

/** Pause before a reconnect, increasing up to the second; a recovered store is found within 2 s. */
const RETRY_STEP_MS = 200;
const RETRY_CAP_MS = 1_000;
/** Maximum random addition, so that processes do not reconnect at the same moment. */
const RETRY_JITTER_MS = 200;
/** A Redis that hangs neither answers nor closes: an add times out after this. */
const PRODUCER_COMMAND_TIMEOUT_MS = 500;
/** Three times the longest block of a worker: a longer silence means a dead connection. */
const WORKER_SOCKET_TIMEOUT_MS = 30_000;
/**
 * `runRetryDelay` of every worker: with BullMQ's default of 15 s it would idle that long after PostgreSQL is back.
 */
export const WORKER_RETRY_MS = 1_000;
const KEEP_ALIVE_MS = 10_000;

/** Connections of one queue or worker to PostgreSQL, besides the listening one. */
const POSTGRES_CONNECTIONS = 3;
const POSTGRES_QUERY_TIMEOUT_MS = 3_000;
const MIGRATION_TIMEOUT_MS = 60_000;

/** A notification arrives within milliseconds, or never. */
const NOTIFICATION_TIMEOUT_MS = 2_000;

/** Milliseconds to wait before attempt number `times`; `chance` from 0 (inclusive) to 1 (exclusive). */
export function retryDelayMs(times: number, chance: number): number {
  return Math.min(RETRY_STEP_MS * times, RETRY_CAP_MS) + Math.floor(chance * RETRY_JITTER_MS);
}

function redisConnection(redisUrl: string, use: QueueUse): ConnectionOptions {
  const connection = {
    ...redisOptions(redisUrl),
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    retryStrategy: (times: number) => retryDelayMs(times, Math.random()),
  };
  if (use === 'worker') {
    return { ...connection, maxRetriesPerRequest: null, socketTimeout: WORKER_SOCKET_TIMEOUT_MS };
  }
  return {
    ...connection,
    commandTimeout: PRODUCER_COMMAND_TIMEOUT_MS,
    socketTimeout: SILENT_SOCKET_MS,
    enableOfflineQueue: false,
    // The check is one INFO at the start; with a hanging Redis it would time out, and the queue would never recover.
    skipVersionCheck: true,
  };
}

/** `options` of the URL are joined with BullMQ's own: it sets its search path there. */
function postgresConnection(databaseUrl: string, use: QueueUse): ConnectionOptions {
  return {
    ...connectionSettings(databaseUrl),
    max: POSTGRES_CONNECTIONS,
    application_name: `countersign-queue-${use}`,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: POSTGRES_QUERY_TIMEOUT_MS,
    statement_timeout: POSTGRES_QUERY_TIMEOUT_MS,
    keepAlive: true,
  };
}

/** The `connection` of a BullMQ Queue (`producer`) or Worker (`worker`, see queueWorkerOptions). Call prepareQueues first. */
export function queueConnection(options: QueueStoreOptions, use: QueueUse): ConnectionOptions {
  return options.redisUrl === null
    ? postgresConnection(options.databaseUrl, use)
    : redisConnection(options.redisUrl, use);
}

/** Options of a BullMQ Worker besides `prefix`: its connection, and the retry delay after losing it. */
export function queueWorkerOptions(options: QueueStoreOptions): Pick<WorkerOptions, 'connection' | 'runRetryDelay'> {
  return { connection: queueConnection(options, 'worker'), runRetryDelay: WORKER_RETRY_MS };
}

/** BullMQ's own schema, the default of its PostgreSQL backend. */
const SCHEMA = 'bullmq';
/**
 * Creates the sequence of a queue's job ids, which BullMQ would create with the first job; the number is not used. $1
 * queue.
 */
const MAKE_JOB_IDS = `SELECT ${SCHEMA}.next_job_id($1)`;
const HAS_JOB_IDS = `SELECT to_regclass('${SCHEMA}.' || ${SCHEMA}.job_id_seq_name($1)) IS NOT NULL AS "exists"`;

async function withClient<T>(databaseUrl: string, timeoutMs: number, work: (client: pg.Client) => Promise<T>) {
  const client = new pg.Client({
    ...connectionSettings(databaseUrl),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: timeoutMs,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Largest job, in octets of its text: 500 ids have 20 KB, and BullMQ adds options and the stack of an error. */
const MAX_JOB_OCTETS = 131_072;
const JOB_BOUND = 'countersign_job_bound';
const HAS_JOB_BOUND = `SELECT EXISTS (
  SELECT FROM pg_constraint WHERE conrelid = '${SCHEMA}.job'::regclass AND conname = '${JOB_BOUND}') AS "exists"`;
/** The columns of a job without a bound of their own type. */
const JOB_TEXTS = [
  'name',
  'data',
  'opts',
  'progress',
  'return_value',
  'failed_reason',
  'stacktrace',
  'deferred_failure',
  'processed_by',
  'lock_token',
  'dedup_id',
  'scheduler_id',
  'parent_queue',
  'parent_id',
  'parent_key',
];
/** The limit is that of the text: a jsonb value stored in a few KB can have a text of many MB. */
const ADD_JOB_BOUND = `ALTER TABLE ${SCHEMA}.job ADD CONSTRAINT ${JOB_BOUND} CHECK (
  octet_length(concat(${JOB_TEXTS.join(', ')})) <= ${MAX_JOB_OCTETS})`;

/**
 * BullMQ parses a job before a worker sees it, and the daemons' roles may add any: the table refuses jobs that are too large to be
 * parsed. Existing jobs are removed unread: a poll finds the rows that they name.
 */
async function boundJobs(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(HAS_JOB_BOUND);
  if (rows[0]?.exists === true) return;
  await client.query(`DELETE FROM ${SCHEMA}.job`);
  await client.query(ADD_JOB_BOUND);
}

const ownerQuery =
  (client: pg.Client): OwnerQuery =>
  async <Row>(text: string, values?: unknown[]) =>
    (await client.query(text, values)).rows as Row[];

export interface QueueMigration {
  /** URL of the role that owns the tables. */
  readonly databaseUrl: string;
  /** Every queue to which a daemon adds jobs: the daemons' role cannot create what a new queue needs. */
  readonly queues: readonly string[];
  /** None: the daemons use the owner's role. */
  readonly roles: readonly DaemonRole[];
}

/**
 * Creates BullMQ's own tables (schema `bullmq`), migrates those of an older BullMQ, bounds their jobs, and creates the objects of
 * each queue. Several processes may call it concurrently.
 */
export async function migrateQueues({ databaseUrl, queues, roles }: QueueMigration): Promise<void> {
  await withClient(databaseUrl, MIGRATION_TIMEOUT_MS, async (client) => {
    await runMigrations(client);
    await client.query('BEGIN');
    // Two processes that grant concurrently would update the same catalog rows; readers are not blocked.
    await client.query(`LOCK TABLE ${SCHEMA}.migration IN SHARE ROW EXCLUSIVE MODE`);
    await client.query(`SET LOCAL search_path TO ${SCHEMA}`);
    await boundJobs(client);
    for (const queue of queues) {
      const { rows } = await client.query<{ exists: boolean }>(HAS_JOB_IDS, [queue]);
      if (rows[0]?.exists !== true) await client.query(MAKE_JOB_IDS, [queue]);
    }
    for (const role of roles) {
      await grantDaemonRole(ownerQuery(client), role, { name: SCHEMA, content: 'queues' });
    }
    // A connection that is lost before this leaves nothing of it.
    await client.query('COMMIT');
  });
}

/**
 * Call before the first Queue or Worker of the process: selects BullMQ's backend for the whole process and, for
 * PostgreSQL, checks that BullMQ's tables are those of this release (without them its workers retry without a pause).
 * Throws SchemaOutdated when they are not, another error when the URL leads to a pooler or the connection does not receive
 * notifications, and the error of `pg` without a connection. With Redis nothing is checked; its workers read a bounded part
 * of a job.
 */
export async function prepareQueues(options: QueueStoreOptions): Promise<void> {
  if (options.redisUrl !== null) {
    setDefaultBackendFactory();
    RedisConnection.clientFactory = createQueueRedis;
    return;
  }
  const { databaseUrl } = options;
  if (await usesPooler(databaseUrl)) {
    throw new Error(
      'without Redis, DATABASE_URL must lead to PostgreSQL itself, not to a connection pooler: ' +
        'job notifications need a session of their own. Set REDIS_URL, or change DATABASE_URL',
    );
  }
  if (!(await receivesNotifications(databaseUrl, databaseUrl, NOTIFICATION_TIMEOUT_MS))) {
    throw new Error('without Redis, DATABASE_URL must lead to PostgreSQL itself: it receives no notification');
  }
  setDefaultBackendFactory(createRetryingBackend);
  const version = await withClient(databaseUrl, POSTGRES_QUERY_TIMEOUT_MS, schemaVersion);
  if (version < LATEST_SCHEMA_VERSION)
    throw new SchemaOutdated("the database lacks the queues' tables of this release");
}

/** 0 without tables. */
async function schemaVersion(client: pg.Client): Promise<number> {
  try {
    return await assertSchemaCompatibility(client);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return 0;
    throw error;
  }
}
