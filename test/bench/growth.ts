import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { firstIdAt, renderId } from '@countersign/ids';
import { dropOldPartitions } from '@countersign/postgres/partitions';
import { createAtRate, createRequests, https, sendMessages } from './against/sections.js';
import { expectApproved, approvedCount, openSessions } from './against/sessions.js';
import { atTurn, type Build, type Side, startSide } from './against/side.js';
import { compare, type FigureRow, type Pair, renderComparison } from './against/summary.js';
import { type Measure, type Ratio, type Section, summary } from './report.js';
import { type Demo, openStores } from './seed.js';
import type { Environment } from './subjects.js';
import { type MonthOfUse, monthOfUse } from './usage.js';

const SECTION = 'growth';
/** Sessions of the month. */
const MOST = 30_000_000;
/** Octets of a session with its message or code, and of its share of the write-ahead log. */
const OCTETS_OF_A_SESSION = 1_200;
const PAIRS = 4;
const CREATES = 20_000;
const MESSAGES = 15_000;
const POLLS = 20_000;
const POLLS_OF_OLD = 8_000;
const POLLED_SESSIONS = 4_000;
const REPORTS = 200;
/** The retention that drops whole days of the month. */
const SHORTER_RETENTION_DAYS = 27;
const DROP_LOAD = { perSecond: 1_500, seconds: 20, rampSeconds: 2 };
/** An idle backend reports the pages that it has read after at most 10 s (PostgreSQL, pgstat). */
const STATISTICS_MS = 11_000;
const HOUR_MS = 3_600_000;
const MS_PER_SECOND = 1_000;

/** Applications on a database with an account that has a month of sessions, all counted in its usage. */
interface Grown {
  readonly side: Side;
  readonly stores: Demo;
  readonly month: MonthOfUse;
}

interface Operation {
  readonly name: string;
  /** Operations of one run. */
  readonly count: number;
  /** Prepares a run, unmeasured, and returns it. */
  prepare(grown: Grown): Promise<() => Promise<Measure>>;
}

const create: Operation = {
  name: 'create',
  count: CREATES,
  prepare: ({ side }) => {
    const task = { method: 'POST', authorization: `Bearer ${side.demo.apiKey}`, seconds: null } as const;
    const requests = createRequests(side, CREATES);
    return Promise.resolve(() => https(side, { ...task, requests }));
  },
};

const inbound: Operation = {
  name: 'inbound',
  count: MESSAGES,
  prepare: async ({ side }) => {
    const { apiKey } = side.demo;
    const before = await approvedCount(side, apiKey);
    const messages = await openSessions(side, MESSAGES);
    return async () => {
      const measure = await sendMessages(side, messages);
      await expectApproved(side, apiKey, before + MESSAGES);
      return measure;
    };
  },
};

interface Reads {
  readonly apiKey: string;
  /** In rotation. */
  readonly paths: readonly string[];
}

function reads(
  { name, count, connections }: { readonly name: string; readonly count: number; readonly connections: number },
  readsOf: (grown: Grown) => Promise<Reads>,
): Operation {
  const prepare = async (grown: Grown): Promise<() => Promise<Measure>> => {
    const { apiKey, paths } = await readsOf(grown);
    const requests = Array.from({ length: count }, (_, at) => ({ path: paths[at % paths.length] ?? '/' }));
    const task = { method: 'GET', authorization: `Bearer ${apiKey}`, seconds: null, connections, requests } as const;
    return () => https(grown.side, task);
  };
  return { name, count, prepare };
}

/** Of sessions that were just created. */
const poll = reads({ name: 'poll', count: POLLS, connections: 64 }, async ({ side }) => {
  const sessions = await openSessions(side, POLLED_SESSIONS);
  return { apiKey: side.demo.apiKey, paths: sessions.map(({ sessionId }) => `/v1/verify/${sessionId}`) };
});

/** An expired session is answered with 404 (specification 4.2). $1 account, $2 lowest id, $3 count. */
const SESSIONS_FROM = `
  SELECT id FROM sessions WHERE account_id = $1 AND id >= $2 AND status <> 'expired' ORDER BY id LIMIT $3`;

/** Of sessions of the oldest hour, which both databases have. */
const pollOld = reads(
  { name: 'poll, a month old', count: POLLS_OF_OLD, connections: 64 },
  async ({ month, stores }) => {
    const values = [month.ids.accountId, firstIdAt(month.fromMs), POLLED_SESSIONS];
    const rows = await stores.database.query<{ id: string }>(SESSIONS_FROM, values);
    return { apiKey: month.apiKey, paths: rows.map(({ id }) => `/v1/verify/${renderId('sess', id)}`) };
  },
);

/** A report of whole hours, as a console or an invoice asks for. */
const usage = reads({ name: 'usage', count: REPORTS, connections: 1 }, ({ month: { apiKey, fromMs } }) => {
  const from = new Date(fromMs + HOUR_MS / 2).toISOString();
  return Promise.resolve({ apiKey, paths: [`/v1/usage?from=${from}`] });
});

const OPERATIONS = [create, inbound, poll, pollOld, usage];

/** Pages that the server has read for the database, from its buffers or not. */
async function pagesRead({ database }: Demo): Promise<number> {
  await delay(STATISTICS_MS);
  const [row] = await database.query<{ pages: number }>(
    `SELECT (blks_hit + blks_read)::float8 AS pages FROM pg_stat_database WHERE datname = current_database()`,
  );
  return row?.pages ?? Number.NaN;
}

async function measured(operation: Operation, grown: Grown): Promise<Measure> {
  const { side, stores } = grown;
  return atTurn(side, async () => {
    const run = await operation.prepare(grown);
    const before = await pagesRead(stores);
    const measure = await run();
    const pages = ((await pagesRead(stores)) - before) / operation.count;
    if (measure.errors > 0) throw new Error(`${operation.name}, ${side.name}: ${measure.errors} requests failed`);
    const words = `${summary(measure)}, ${pages.toFixed(1)} pages`;
    process.stderr.write(`${SECTION} ${operation.name}, ${side.name}: ${words}\n`);
    return { ...measure, pages };
  });
}

/** Pairs of one operation, the first of a pair taking turns; one pair before them is not counted. */
async function pairsOf(operation: Operation, few: Grown, many: Grown): Promise<Pair[]> {
  const pairs: Pair[] = [];
  for (let at = -1; at < PAIRS; at += 1) {
    const isFewFirst = at % 2 === 0;
    const first = await measured(operation, isFewFirst ? few : many);
    const second = await measured(operation, isFewFirst ? many : few);
    if (at >= 0) pairs.push(isFewFirst ? { base: first, compared: second } : { base: second, compared: first });
  }
  return pairs;
}

async function grow(
  build: Build,
  masterKey: Buffer,
  size: { readonly sessions: number; readonly everyHour: boolean },
): Promise<Grown> {
  const side = await startSide(build, masterKey, { gateway: true, extra: {} });
  // Stopped while the past is written.
  await atTurn(side, () => Promise.resolve());
  const stores = await openStores(side.environment, masterKey, side.demo);
  return { side, stores, month: await monthOfUse(stores, size) };
}

/** At most half of the free space of the server's disk. */
async function mostSessions({ database }: Demo): Promise<number> {
  const [row] = await database.query<{ folder: string }>(`SELECT current_setting('data_directory') AS folder`);
  const { bavail, bsize } = await statfs(row?.folder ?? '.');
  return Math.min(MOST, Math.floor((bavail * bsize) / 2 / OCTETS_OF_A_SESSION));
}

async function sizeOf({ stores }: Grown): Promise<number> {
  const [row] = await stores.database.query<{ octets: number }>(
    `SELECT pg_database_size(current_database())::float8 AS octets`,
  );
  return row?.octets ?? Number.NaN;
}

interface Drop {
  readonly quiet: Measure;
  readonly during: Measure;
  readonly partitions: number;
  readonly ms: number;
}

/** Creates at a constant rate, alone and while days beyond a shorter retention are dropped. */
async function dropUnderLoad({ side, stores }: Grown): Promise<Drop> {
  const { perSecond, seconds, rampSeconds } = DROP_LOAD;
  const pace = { perSecond, count: perSecond * (seconds + rampSeconds), ramp: perSecond * rampSeconds };
  return atTurn(side, async () => {
    const quiet = await createAtRate(side, pace);
    const load = createAtRate(side, pace);
    await delay((rampSeconds + seconds / 2) * MS_PER_SECOND);
    const startedMs = performance.now();
    const dropped = await dropOldPartitions(stores.database, Date.now(), SHORTER_RETENTION_DAYS);
    const ms = Math.round(performance.now() - startedMs);
    return { quiet, during: await load, partitions: dropped.length, ms };
  });
}

const FIGURES = ['CPU µs/op, total without load', 'pages read/op'];

function ratiosOf(rows: readonly FigureRow[]): Ratio[] {
  return rows.flatMap(({ section, figure, ratio }) =>
    FIGURES.includes(figure)
      ? [
          {
            section: SECTION,
            name: `${section}: ${figure}, a month of rows / none`,
            value: Math.round(ratio.median * 100) / 100,
            reachFor: '<= 1.1',
          },
        ]
      : [],
  );
}

function dropNote({ quiet, during, partitions, ms }: Drop): string {
  const worst = (measure: Measure): string => `${measure.p99Ms} ms, ${measure.pace?.worstSecondP99Ms ?? 0} ms`;
  const load = `${DROP_LOAD.perSecond} creates a second, p99 of all and of the worst second`;
  return `retention: ${partitions} partitions dropped in ${ms} ms; ${load}: ${worst(quiet)} alone; ${worst(during)} during the drop`;
}

/**
 * A month of as many sessions as half of the free disk takes, 30 million at most, against the same month of which only the first
 * and the last hour have rows: two databases of one PostgreSQL with applications of their own, which take turns. Then days of the
 * month are dropped under load.
 */
export async function benchGrowth(environment: Environment, demo: Demo, masterKey: Buffer): Promise<Section> {
  const buildOf = (name: string, redisDatabase: number): Build => {
    const { REDIS_URL: redisUrl, ...others } = environment;
    const redis = redisUrl === undefined || redisUrl === '' ? redisUrl : `${redisUrl}/${redisDatabase}`;
    return { name, dist: path.resolve('dist'), stores: redis === undefined ? others : { ...others, REDIS_URL: redis } };
  };
  const sessions = await mostSessions(demo);
  const few = await grow(buildOf('without the rows', 1), masterKey, { sessions, everyHour: false });
  const many = await grow(buildOf(`${sessions} sessions`, 2), masterKey, { sessions, everyHour: true });
  try {
    const rows: FigureRow[] = [];
    for (const operation of OPERATIONS) rows.push(...compare(operation.name, await pairsOf(operation, few, many)));
    const octets = (await sizeOf(many)) / sessions;
    const drop = await dropUnderLoad(many);
    const names = { base: few.side.name, compared: many.side.name };
    const size = `${sessions} sessions take ${Math.round(octets)} octets each`;
    return { rows: [], ratios: ratiosOf(rows), notes: [renderComparison(names, rows), size, dropNote(drop)] };
  } finally {
    for (const { side, stores } of [few, many]) {
      await stores.close();
      await side.stop();
    }
  }
}
