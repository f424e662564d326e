import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../config/stack/ports.mjs';
import { startRedis } from '../../config/stack/redis.mjs';
import { type Faults, tryPromises } from '../campaign/campaign.js';
import { INVARIANTS } from '../campaign/checker.js';
import { observed } from '../campaign/observed.js';
import { type App, install, type Installation, openFolder, Opened } from '../campaign/system.js';
import { clusterIsMissing } from '../support/cluster-programs.js';
import { migrated } from '../support/database.js';
import { Outcomes } from '../support/outcomes.js';
import { isRedisInstalled } from '../support/parts.js';
import { type ClusterNode, type PathToPrimary, PostgresCluster } from '../support/postgres-cluster.js';
import { Random } from '../support/random.js';
import { until } from '../support/until.js';

const USERS = 4;
/** Calls and messages that succeed between two faults. */
const STEADY = 20;
const STEADY_MS = 120_000;
const PROBE_MS = 200;
const PROMOTED_MS = 90_000;
/** How long a frozen node stays frozen after the other one was promoted. */
const FROZEN_MS = 2_000;
/** Requirement: callers get no more errors so long after another node has taken over. */
const RECOVERED_MS = 60_000;
const TEST_MS = 600_000;
/** The phone of the nth message without a token: no session is of it. */
const strangerOf = (nth: number): string => `+346${String(nth).padStart(8, '0')}`;
const MISSING = `SELECT phone FROM unnest($1::text[]) AS phone
  WHERE NOT EXISTS (SELECT FROM messages WHERE direction = 'in' AND source IN (phone, substr(phone, 2)))`;
const SHOWN = 20;
const OK = 0;
/** Contract: the status of a bind that makes the carrier try again. */
const RETRYABLE = 0x14;

const WAYS: readonly { readonly by: string; readonly to: PathToPrimary; readonly queues: 'redis' | 'postgresql' }[] = [
  { by: 'HAProxy', to: 'proxy', queues: isRedisInstalled() ? 'redis' : 'postgresql' },
  { by: 'a list of hosts', to: 'hosts', queues: 'postgresql' },
];

interface Failover {
  readonly name: string;
  readonly strike: (cluster: PostgresCluster, primary: ClusterNode) => Promise<void> | void;
  /** Once the other node is the primary: the struck one comes back. */
  readonly mend: (cluster: PostgresCluster, struck: ClusterNode) => Promise<void> | void;
  /** No server takes writes from the end of the strike to the promotion. */
  readonly isOutage: boolean;
}

const FAILOVERS: readonly Failover[] = [
  {
    name: 'switchover',
    strike: (cluster) => cluster.switchover(),
    mend: () => undefined,
    isOutage: false,
  },
  {
    name: 'primary killed',
    strike: (cluster, primary) => cluster.kill(primary),
    mend: (cluster, struck) => cluster.restart(struck),
    isOutage: true,
  },
  {
    name: 'primary frozen',
    strike: (cluster, primary) => cluster.freeze(primary),
    mend: async (cluster, struck) => {
      await delay(FROZEN_MS);
      await cluster.thaw(struck);
    },
    isOutage: true,
  },
];

/** Times of one failover, in ms of `performance.now()`. */
interface Course {
  readonly failover: Failover;
  readonly begunMs: number;
  readonly struckMs: number;
  /** The other node did not take writes before, and did after. */
  readonly refusedMs: number;
  readonly promotedMs: number;
  /** All nodes and apps are as before. */
  readonly endedMs: number;
}

/** Calls of users, messages of phones, and probes of each app of an installation. */
class Witness {
  readonly calls = new Outcomes();
  readonly messages = new Outcomes();
  readonly probes = new Map<App, Outcomes>();
  /** The phones whose message without a token was acknowledged, and when, in ms of `performance.now()`. */
  readonly acknowledged = new Map<string, number>();
  #strangers = 0;
  readonly #stopping = new AbortController();
  #probing: Promise<unknown> = Promise.resolve();

  /** Asks each app whether it is ready, and sends MOs without a token to each gateway. */
  startProbes({ apps, links, demo }: Installation): void {
    const sending = links.map((link) => this.#send(link, demo.inboundNumber));
    this.#probing = Promise.all([...apps.map((app) => this.#probe(app)), ...sending]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#probing;
  }

  get isSteady(): { readonly after: () => boolean } {
    const [calls, messages] = [this.calls.succeeded + STEADY, this.messages.succeeded + STEADY / 4];
    return { after: () => this.calls.succeeded >= calls && this.messages.succeeded >= messages };
  }

  async #send(link: Installation['links'][number], to: string): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const from = strangerOf(this.#strangers++);
      if ((await link.send({ from, to, text: 'hello' })) === OK) this.acknowledged.set(from, performance.now());
      await delay(PROBE_MS);
    }
  }

  async #probe(app: App): Promise<void> {
    const probes = new Outcomes();
    this.probes.set(app, probes);
    const ask = (): Promise<number> =>
      fetch(app.part.readyUrl).then(
        ({ status }) => status,
        () => 0,
      );
    while (!this.#stopping.signal.aborted) {
      await probes.record(ask, (status) => ({ isOk: status === 200, answer: String(status) }));
      await delay(PROBE_MS);
    }
  }
}

/** One failover after the other, while several installations are under load. */
class Failovers implements Faults {
  readonly struck = new Map<string, number>();
  readonly failures: string[] = [];
  readonly courses: Course[] = [];
  isOver = false;
  #running: Promise<void> | null = null;

  constructor(
    private readonly cluster: PostgresCluster,
    private readonly witnesses: readonly Witness[],
  ) {}

  /** Begins with the first of the installations. */
  start(): void {
    this.#running ??= this.#run()
      .catch((error: unknown) => void this.failures.push(`${String(error)}\n${this.cluster.logs()}`))
      .finally(() => (this.isOver = true));
  }

  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    await this.#steady();
    for (const failover of FAILOVERS) {
      this.struck.set(failover.name, 1);
      await this.#pass(failover);
    }
  }

  async #pass(failover: Failover): Promise<void> {
    const { cluster } = this;
    const primary = await cluster.primary();
    const next = cluster.other(primary);
    const begunMs = performance.now();
    await failover.strike(cluster, primary);
    const struckMs = performance.now();
    let refusedMs = struckMs;
    await until(`${next.name} takes writes`, PROMOTED_MS, async () => {
      const askedMs = performance.now();
      const takesWrites = await cluster.takesWrites(next);
      if (!takesWrites) refusedMs = askedMs;
      return takesWrites;
    });
    const promotedMs = performance.now();
    await failover.mend(cluster, primary);
    await cluster.settled();
    await until('all are ready', STEADY_MS, () => this.#areReady());
    await this.#steady();
    this.courses.push({ failover, begunMs, struckMs, refusedMs, promotedMs, endedMs: performance.now() });
  }

  async #areReady(): Promise<boolean> {
    const apps = this.witnesses.flatMap(({ probes }) => [...probes.keys()]);
    const answers = await Promise.all(apps.map(({ part }) => fetch(part.readyUrl).catch(() => null)));
    return answers.every((answer) => answer?.ok === true);
  }

  async #steady(): Promise<void> {
    const steady = this.witnesses.map(({ isSteady }) => isSteady);
    await until('calls and messages go on', STEADY_MS, () => steady.every(({ after }) => after()));
  }
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** Run by `npm run faults -- --failover` alone: it takes two minutes, and programs that few machines have. */
const isAskedFor = process.env['FAILOVER'] !== undefined;

describe.skipIf(clusterIsMissing || !isAskedFor)('a failover of PostgreSQL under Patroni', () => {
  let cluster: PostgresCluster;
  const startedMs = performance.now();
  const log = (line: string): void => {
    process.stdout.write(`[failover +${seconds(performance.now() - startedMs)}s] ${line}\n`);
  };

  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    log('a primary, a synchronous standby, etcd and HAProxy run');
  });
  afterAll(() => cluster.stop());

  async function installBy({ to, queues }: (typeof WAYS)[number], opened: Opened): Promise<Installation> {
    const dataDir = openFolder(opened);
    const { url, gatewayUrl, ownerUrl } = await migrated(await cluster.createDatabase(`by_${to}`));
    const none = (): undefined => undefined;
    const redis = queues === 'redis' ? await startRedis({ dataDir, log: none, port: await freePort() }) : null;
    if (redis !== null) opened.add(redis, (server) => server.stop());
    return install(opened, new Random(1), {
      ...{ dataDir, url, ownerUrl },
      variablesOf: (app) => ({
        DATABASE_URL: cluster.urlBy(to, app === 'gateway' ? gatewayUrl : url),
        ...(redis === null ? {} : { REDIS_URL: redis.url }),
      }),
    });
  }

  it(
    'breaks no promise, and callers go on soon, through HAProxy and through a list of hosts',
    async () => {
      const opened = new Opened();
      try {
        const tried: Tried[] = [];
        for (const way of WAYS) {
          const installation = await installBy(way, opened);
          const witness = opened.add(new Witness(), (each) => each.stop());
          const recorded = observed(installation, witness);
          witness.startProbes(recorded);
          tried.push({ way, witness, installation: recorded });
          log(`two control planes and two gateways are ready, by ${way.by}, queues on ${way.queues}`);
        }
        const faults = new Failovers(
          cluster,
          tried.map(({ witness }) => witness),
        );
        const goesOn = (): boolean => !faults.isOver;
        const reports = await Promise.all(
          tried.map(({ way, installation }) =>
            tryPromises(installation, faults, new Random(Date.now()), {
              ...{ sessions: null, users: USERS, goesOn },
              log: (line) => log(`by ${way.by}: ${line}`),
            }),
          ),
        );
        for (const [nth, each] of tried.entries()) {
          const { violations = [], counts = {} } = reports[nth] ?? {};
          for (const line of linesOf(each.witness, faults.courses, counts)) log(`by ${each.way.by}: ${line}`);
          for (const { invariant, text } of violations.slice(0, SHOWN))
            log(`BROKEN: by ${each.way.by}: ${INVARIANTS[invariant]}: ${text}`);
        }
        expect(reports.flatMap(({ violations }) => violations).slice(0, SHOWN)).toEqual([]);
        for (const { installation, witness } of tried) {
          expect(installation.apps.filter(({ part }) => !part.isRunning)).toEqual([]);
          for (const course of faults.courses) expectNoReadiness(course, witness);
          for (const course of faults.courses) expectRecovery(course, witness);
          expectAnswersToInviteRepetition(witness);
          await witness.stop();
          expect(witness.acknowledged.size).toBeGreaterThan(0);
          expect(await missingOf(installation, witness), 'acknowledged MOs that are not stored').toEqual([]);
        }
      } finally {
        await opened.close();
      }
    },
    TEST_MS,
  );
});

interface Tried {
  readonly way: (typeof WAYS)[number];
  readonly witness: Witness;
  readonly installation: Installation;
}

/** The acknowledged messages without a token that are not in the database, and when they were acknowledged. */
async function missingOf(
  { ownerUrl }: Installation,
  { acknowledged }: Witness,
): Promise<readonly { readonly phone: string; readonly acknowledgedMs: number | undefined }[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ phone: string }>(MISSING, [[...acknowledged.keys()]]);
    return rows.map(({ phone }) => ({ phone, acknowledgedMs: acknowledged.get(phone) }));
  } finally {
    await client.end();
  }
}

/** The outcomes of each failover, and the counts of the run. */
function linesOf(
  witness: Witness,
  courses: readonly Course[],
  counts: Readonly<Record<string, number>>,
): readonly string[] {
  const all = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return [
    ...courses.map((course) => describeCourse(course, witness)),
    all.join(', '),
    `answers ${JSON.stringify(witness.calls.answers())}, to MOs ${JSON.stringify(witness.messages.answers())}`,
  ];
}

function describeCourse(
  { failover, begunMs, promotedMs, endedMs }: Course,
  { calls, messages, probes }: Witness,
): string {
  const [call, message] = [calls.during(begunMs, endedMs), messages.during(begunMs, endedMs)];
  const unready = [...probes.values()].map((each) => each.during(begunMs, endedMs).seconds);
  return [
    `${failover.name}: the standby took writes after ${seconds(promotedMs - begunMs)} s`,
    `calls failed for ${call.seconds.toFixed(1)} s (${call.failed} of ${call.total})`,
    `MOs were not acknowledged for ${message.seconds.toFixed(1)} s (${message.failed} of ${message.total})`,
    `/readyz was 503 for ${Math.min(...unready).toFixed(1)} to ${Math.max(...unready).toFixed(1)} s`,
  ].join('; ');
}

/** While no server takes writes, no process says that it is ready. */
function expectNoReadiness({ failover, struckMs, refusedMs }: Course, { probes }: Witness): void {
  if (!failover.isOutage) return;
  for (const [{ name }, { all }] of probes) {
    const meanwhile = all.filter(({ startedMs, endedMs }) => startedMs > struckMs && endedMs < refusedMs);
    expect(meanwhile.length, `probes of ${name}, ${failover.name}`).toBeGreaterThan(0);
    expect(
      meanwhile.filter(({ isOk }) => isOk),
      `${name} is ready, ${failover.name}`,
    ).toEqual([]);
  }
}

function expectRecovery({ failover, begunMs, promotedMs, endedMs }: Course, { calls, messages }: Witness): void {
  for (const outcomes of [calls, messages]) {
    const { lastFailedMs } = outcomes.during(begunMs, endedMs);
    expect((lastFailedMs ?? begunMs) - promotedMs, `errors after ${failover.name}`).toBeLessThan(RECOVERED_MS);
  }
}

/** No answer tells a caller or a carrier to give up: it is a 503, a status that is sent again, or none. */
function expectAnswersToInviteRepetition({ calls, messages }: Witness): void {
  const failed = (outcomes: Outcomes): string[] =>
    [...new Set(outcomes.all.filter(({ isOk }) => !isOk).map(({ answer }) => answer))].sort();
  expect(['503', 'null']).toEqual(expect.arrayContaining(failed(calls)));
  expect([String(RETRYABLE), 'null']).toEqual(expect.arrayContaining(failed(messages)));
}
