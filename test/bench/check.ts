import { parseId } from '@countersign/ids';
import type { MeteredProcess } from './cpu/use.js';
import { benchHalfLoad } from './half-load.js';
import type { HttpsRequest, HttpsTask } from './load/https.js';
import type { HttpsAtRateTask } from './load/https-at-rate.js';
import type { Pace } from './load/open-loop.js';
import { runLoad, type Subject } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate } from './rounds.js';
import { type Demo, type Message, approvedCount, inRotation, pendingSessions } from './seed.js';
import { type Environment, startBaseline, startControlPlane, storeProcesses } from './subjects.js';
import { liveTenant } from '../support/tenants.js';
import { warmUp } from './warm-up.js';

const CONNECTIONS = 64;
/** Checks per run: each accepts the code of a session of its own. */
const CHECKS = 6_000;
const UNBATCHED_CHECKS = 1_500;
const BASELINE_CHECKS = 20_000;
const CODES_IN_FLIGHT = 64;
const CODE = '481516';
/** The approximate size of the answer to an accepted code. */
const ANSWER_OCTETS = 230;

/** Gives each session a code, as send-sms does, without the SMS. */
async function addCodes(demo: Demo, sessions: readonly Message[]): Promise<void> {
  const accountId = parseId('acct', demo.accountId) ?? '';
  const addCode = ({ sessionId }: Message): Promise<void> =>
    demo.database.transaction(async (tx) => {
      const ready = await demo.sessions.prepareCode(tx, liveTenant(accountId), parseId('sess', sessionId) ?? '');
      if (ready.kind !== 'ready') throw new Error(`a new session takes no code: ${ready.kind}`);
      await demo.sessions.addCode(tx, ready, CODE);
    });
  for (let at = 0; at < sessions.length; at += CODES_IN_FLIGHT) {
    await Promise.all(sessions.slice(at, at + CODES_IN_FLIGHT).map(addCode));
  }
}

const checkOf = ({ sessionId }: Message): HttpsRequest => ({
  path: `/v1/verify/${sessionId}/check`,
  body: JSON.stringify({ code: CODE }),
});

const load = (
  demo: Demo,
  port: number,
  sessions: readonly Message[],
  processes: readonly MeteredProcess[],
): Promise<Measure> =>
  runLoad<Measure>('https.js', {
    origin: `https://127.0.0.1:${port}`,
    method: 'POST',
    authorization: `Bearer ${demo.apiKey}`,
    requests: sessions.map(checkOf),
    connections: CONNECTIONS,
    seconds: null,
    processes,
  } satisfies HttpsTask);

const loadAtRate = (
  demo: Demo,
  port: number,
  sessions: readonly Message[],
  processes: readonly MeteredProcess[],
  pace: Pace,
): Promise<Measure> =>
  runLoad<Measure>('https-at-rate.js', {
    port,
    apiKey: demo.apiKey,
    method: 'POST',
    requests: sessions.map(checkOf),
    pace,
    processes,
  } satisfies HttpsAtRateTask);

/** Checks one right code a session, and proves that every one of them approved its session in the database. */
async function accepted(
  demo: Demo,
  count: number,
  send: (sessions: readonly Message[]) => Promise<Measure>,
): Promise<Measure> {
  const sessions = await pendingSessions(demo, count);
  await addCodes(demo, sessions);
  const before = await approvedCount(demo);
  const measure = await send(sessions);
  const approved = (await approvedCount(demo)) - before;
  if (approved !== count) throw new Error(`${count} codes were checked and ${approved} sessions approved`);
  return measure;
}

/** HTTPS `POST /v1/verify/{id}/check` of right codes, committed, on 64 keep-alive connections; then at half of that throughput. */
export async function benchCheck(
  environment: Environment,
  demo: Demo,
  rounds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const product = await startControlPlane('countersign', environment);
  const unbatched = await startControlPlane('countersign, batches of one', environment, { batch: 1 });
  const bare = await startBaseline('bare fastify', 'bare-fastify.js', {
    ...environment,
    BODY_OCTETS: String(ANSWER_OCTETS),
  });
  const filler = inRotation(await pendingSessions(demo, 1_000), BASELINE_CHECKS);
  try {
    const checks =
      ({ port, processes }: Subject, count: number) =>
      (): Promise<Measure> =>
        accepted(demo, count, (sessions) => load(demo, port, sessions, [...processes, ...storeProcesses(environment)]));
    const atRate = (pace: Pace): Promise<Measure> =>
      accepted(demo, pace.count, (sessions) =>
        loadAtRate(demo, product.port, sessions, [...product.processes, ...storeProcesses(environment)], pace),
      );
    const contenders = [
      { subject: bare, run: () => load(demo, bare.port, filler, bare.processes) },
      { subject: product, run: checks(product, CHECKS) },
      { subject: unbatched, run: checks(unbatched, UNBATCHED_CHECKS) },
    ] as const;
    for (const { subject, run } of contenders) await warmUp(`check ${subject.name}`, run);
    const rows = await alternate('check', rounds, contenders);
    const [bareRow, productRow, unbatchedRow] = rows;
    const half = await benchHalfLoad(productRow, product, rounds, atRate);
    const ratios = [
      { section: 'check', name: 'of bare fastify', value: ratioOf(productRow, bareRow), reachFor: 'measured' },
      { section: 'check', name: 'times batches of one', value: ratioOf(productRow, unbatchedRow), reachFor: '>= 2.5' },
      half.ratio,
    ];
    return { rows: [...rows, half.row], ratios };
  } finally {
    await Promise.all([product.stop(), unbatched.stop(), bare.stop()]);
  }
}
