import { benchHalfLoad } from './half-load.js';
import type { HttpsTask } from './load/https.js';
import type { HttpsAtRateTask } from './load/https-at-rate.js';
import type { Pace } from './load/open-loop.js';
import { runLoad, type Subject } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate, type Contender } from './rounds.js';
import { type Demo, pendingSessions } from './seed.js';
import { type Environment, startBaseline, startControlPlane, storeProcesses } from './subjects.js';
import { warmUp } from './warm-up.js';

const CONNECTIONS = 64;
/** Many sessions, as if of many callers; each well below its own quota. */
const SESSIONS = 4_000;
/** The approximate size of the answer for a pending session with a fallback URI and no metadata. */
const ANSWER_OCTETS = 620;

/** HTTPS `GET /v1/verify/{id}` on 64 keep-alive connections, against bare Fastify; then at half of that throughput. */
export async function benchPoll(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const sessions = await pendingSessions(demo, SESSIONS);
  const product = await startControlPlane('countersign', environment);
  const bare = await startBaseline('bare fastify', 'bare-fastify.js', {
    ...environment,
    BODY_OCTETS: String(ANSWER_OCTETS),
  });
  const requests = sessions.map(({ sessionId }) => ({ path: `/v1/verify/${sessionId}` }));
  const run = ({ port, processes }: Subject): Promise<Measure> =>
    runLoad<Measure>('https.js', {
      origin: `https://127.0.0.1:${port}`,
      method: 'GET',
      authorization: `Bearer ${demo.apiKey}`,
      requests,
      connections: CONNECTIONS,
      seconds,
      processes: [...processes, ...(port === bare.port ? [] : storeProcesses(environment))],
    } satisfies HttpsTask);
  const atRate = (pace: Pace): Promise<Measure> =>
    runLoad<Measure>('https-at-rate.js', {
      port: product.port,
      apiKey: demo.apiKey,
      method: 'GET',
      requests,
      pace,
      processes: [...product.processes, ...storeProcesses(environment)],
    } satisfies HttpsAtRateTask);
  try {
    for (const subject of [product, bare]) await warmUp(`poll ${subject.name}`, () => run(subject));
    const contender = (subject: Subject): Contender => ({ subject, run: () => run(subject) });
    const rows = await alternate('poll', rounds, [contender(bare), contender(product)]);
    const [bareRow, productRow] = rows;
    const value = ratioOf(productRow, bareRow);
    const half = await benchHalfLoad(productRow, product, rounds, atRate);
    const ratios = [{ section: 'poll', name: 'of bare fastify', value, reachFor: '>= 0.4' }, half.ratio];
    return { rows: [...rows, half.row], ratios };
  } finally {
    await Promise.all([product.stop(), bare.stop()]);
  }
}
