import { setTimeout as delay } from 'node:timers/promises';
import { newId, parseId, type Uuid } from '@countersign/ids';
import type { ConnectionCounts, ConnectTask } from './load/connections.js';
import { type RunningSubject, startLoad } from './processes.js';
import { flowOf, type Receivers, startReceivers } from './receivers.js';
import type { Ratio, Row, Section } from './report.js';
import type { Demo } from './seed.js';
import { type Environment, LOCAL_WEBHOOKS, startControlPlane, startGateway } from './subjects.js';

const SECTION = 'memory';
const HTTPS_CONNECTIONS = 50_000;
const SMPP_CONNECTIONS = 10_000;
/** Networks of their own: the servers limit the connections of each. */
const ADDRESSES = Array.from({ length: 50 }, (_, at) => `127.0.${at + 1}.1`);
const BACKLOG = 1_000_000;
const BACKLOG_SECONDS = 60;
const RECEIVERS = 20;
const ROWS_OF_ONE_INSERT = 5_000;
const BODY_CHARACTERS = 500;
const SAMPLE_MS = 250;
const MS_PER_SECOND = 1_000;

/** $1 account, $2 ids, $3 URLs in the same order, $4 sealed bodies in the same order. */
const INSERT_DELIVERIES = `
  INSERT INTO deliveries (id, account_id, test, session_id, type, url, occurred_at, next_attempt_at, body_sealed)
  SELECT id, $1, false, NULL, 'webhook.test', url, now(), now(), body
  FROM unnest($2::uuid[], $3::text[], $4::bytea[]) AS made (id, url, body)`;

/** The largest resident set of a process while work goes on. */
async function peakDuring(subject: RunningSubject, work: () => Promise<unknown>): Promise<number> {
  let peakMiB = subject.rssMiB();
  const sampling = setInterval(() => (peakMiB = Math.max(peakMiB, subject.rssMiB())), SAMPLE_MS);
  await work().finally(() => clearInterval(sampling));
  return Math.max(peakMiB, subject.rssMiB());
}

const rowOf = (subject: string, rssMiB: number, perSecond = 0): Row => ({
  section: SECTION,
  ...{ subject, perSecond, p50Ms: 0, p99Ms: 0, errors: 0, rssMiB },
});
const ratioOf = (name: string, before: number, peak: number): Ratio => ({
  section: SECTION,
  name: `RSS at its peak / before: ${name}`,
  value: peak / before,
  reachFor: 'measured',
});

interface Figures {
  readonly row: Row;
  readonly ratio: Ratio;
}

/** Idle connections of peers that show no key and bind to nothing. */
async function idleConnections(subject: RunningSubject, isTls: boolean, count: number): Promise<Figures> {
  const load = startLoad('connections.js');
  const before = subject.rssMiB();
  let counts: ConnectionCounts = { opened: 0, open: 0 };
  const task = { port: subject.port, isTls, count, addresses: ADDRESSES } satisfies ConnectTask;
  const peak = await peakDuring(subject, async () => {
    counts = await load.ask<ConnectionCounts>(task);
  });
  await load.stop();
  const name = `${subject.name}, ${count} idle connections, ${counts.opened} opened, ${counts.open} kept`;
  return { row: rowOf(name, peak), ratio: ratioOf(name, before, peak) };
}

/** Makes deliveries that are due, as events would have left them. */
async function insertBacklog({ database, keys, accountId }: Demo, urls: readonly string[]): Promise<void> {
  const account = parseId('acct', accountId);
  const data = { note: 'x'.repeat(BODY_CHARACTERS) };
  for (let made = 0; made < BACKLOG; made += ROWS_OF_ONE_INSERT) {
    const nowMs = Date.now();
    const ids = Array.from({ length: ROWS_OF_ONE_INSERT }, () => newId(nowMs));
    const timestamp = new Date(nowMs).toISOString();
    const bodyOf = (id: Uuid): Buffer =>
      keys.seal('webhook-body', JSON.stringify({ type: 'webhook.test', timestamp, data }), id);
    await database.query(INSERT_DELIVERIES, [
      account,
      ids,
      ids.map((_, at) => urls[at % urls.length]),
      ids.map(bodyOf),
    ]);
  }
}

/** A control plane that delivers while a million webhooks are due. */
async function backlog(subject: RunningSubject, demo: Demo, { urls, ...receivers }: Receivers): Promise<Figures> {
  await receivers.expect({ hanging: [] });
  const before = subject.rssMiB();
  subject.freeze();
  await insertBacklog(demo, urls).finally(() => subject.thaw());
  const peak = await peakDuring(subject, () => delay(BACKLOG_SECONDS * MS_PER_SECOND));
  const { perSecond } = flowOf(await receivers.received(1));
  const name = `${subject.name}, ${BACKLOG} webhooks due, ${BACKLOG_SECONDS} s of them`;
  return { row: rowOf(name, peak, perSecond), ratio: ratioOf(name, before, peak) };
}

/** The resident set of each application under what outsiders can open, and under a backlog. */
export async function benchMemory(environment: Environment, demo: Demo): Promise<Section> {
  const receivers = await startReceivers(environment, RECEIVERS);
  const local = { ...environment, ...LOCAL_WEBHOOKS };
  const [controlPlane, gateway] = [
    await startControlPlane('control plane', local),
    await startGateway('gateway', local),
  ];
  try {
    const figures = [
      await idleConnections(controlPlane, true, HTTPS_CONNECTIONS),
      await idleConnections(gateway, false, SMPP_CONNECTIONS),
      await backlog(controlPlane, demo, receivers),
    ];
    return { rows: figures.map(({ row }) => row), ratios: figures.map(({ ratio }) => ratio) };
  } finally {
    await Promise.all([gateway.stop(), controlPlane.stop()]);
    await receivers.subject.stop();
  }
}
