import type { MeteredProcess } from './cpu/use.js';
import { benchHalfLoad } from './half-load.js';
import type { HttpsTask } from './load/https.js';
import type { HttpsAtRateTask } from './load/https-at-rate.js';
import type { Pace } from './load/open-loop.js';
import { Agent, request } from 'undici';
import { phones } from './phones.js';
import { runLoad, type Subject } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate, type Contender } from './rounds.js';
import type { SeededDemo } from '../support/demo.js';
import { type Environment, startBaseline, startControlPlane, storeProcesses } from './subjects.js';
import { FEW_RUNS, warmUp } from './warm-up.js';

type Demo = SeededDemo & { readonly certificate: string };

const CONNECTIONS = 64;
const PHONES = 4_000;
/** The longest that the API allows (specification), so that no session expires while others are measured. */
const TTL_SECONDS = 300;

export const createBody = (demo: Demo, phone: string): string =>
  JSON.stringify({
    phone,
    accountId: demo.accountId,
    brandId: demo.brandId,
    clientChallenge: 'a'.repeat(64),
    webhookUrl: 'https://hooks.example.com/countersign',
    ttl: TTL_SECONDS,
    channel: 'sms_fallback',
    allowSmsOtp: true,
    metadata: { order: '12345', cart: 'a-17' },
  });

async function answerOctets(url: string, demo: Demo, body: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: demo.certificate } });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${demo.apiKey}` };
  const answer = await request(url, { method: 'POST', dispatcher, body, headers });
  const text = await answer.body.text();
  await dispatcher.close();
  if (answer.statusCode !== 200) throw new Error(`the first create was answered ${answer.statusCode}: ${text}`);
  return Buffer.byteLength(text);
}

/**
 * HTTPS `POST /v1/verify` on 64 keep-alive connections, against bare Fastify, against plain NestJS with TypeORM and
 * against one row a transaction; then at half of that throughput.
 */
export async function benchCreate(
  environment: Environment,
  demo: Demo,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const bodies = phones(PHONES).map((phone) => createBody(demo, phone));
  const product = await startControlPlane('countersign', environment);
  const unbatched = await startControlPlane('countersign, batches of one', environment, { batch: 1 });
  const octets = await answerOctets(`https://127.0.0.1:${product.port}/v1/verify`, demo, bodies[0] ?? '');
  const bare = await startBaseline('bare fastify', 'bare-fastify.js', { ...environment, BODY_OCTETS: String(octets) });

  const nest = await startBaseline('plain NestJS + TypeORM', 'plain-nest.js', environment);

  const requests = bodies.map((each) => ({ path: '/v1/verify', body: each }));
  const storesOf = (port: number): MeteredProcess[] => {
    if (port === bare.port) return [];
    return storeProcesses(port === nest.port ? { ...environment, REDIS_URL: '' } : environment);
  };
  const run = ({ port, processes }: Subject): Promise<Measure> =>
    runLoad<Measure>('https.js', {
      origin: `https://127.0.0.1:${port}`,
      method: 'POST',
      authorization: `Bearer ${demo.apiKey}`,
      requests,
      connections: CONNECTIONS,
      seconds,
      processes: [...processes, ...storesOf(port)],
    } satisfies HttpsTask);
  const atRate = (pace: Pace): Promise<Measure> =>
    runLoad<Measure>('https-at-rate.js', {
      port: product.port,
      apiKey: demo.apiKey,
      method: 'POST',
      requests,
      pace,
      processes: [...product.processes, ...storeProcesses(environment)],
    } satisfies HttpsAtRateTask);
  try {
    for (const subject of [product, unbatched, bare]) await warmUp(`create ${subject.name}`, () => run(subject));
    await warmUp(`create ${nest.name}`, () => run(nest), FEW_RUNS);
    const contender = (subject: Subject): Contender => ({ subject, run: () => run(subject) });
    const rows = await alternate('create', rounds, [
      contender(bare),
      contender(nest),
      contender(product),
      contender(unbatched),
    ]);
    const [bareRow, nestRow, productRow, unbatchedRow] = rows;
    const half = await benchHalfLoad(productRow, product, rounds, atRate);
    const ratios = [
      { section: 'create', name: 'of bare fastify', value: ratioOf(productRow, bareRow), reachFor: '>= 0.25' },
      { section: 'create', name: 'times batches of one', value: ratioOf(productRow, unbatchedRow), reachFor: '>= 2.5' },
      { section: 'create', name: 'times plain NestJS + TypeORM', value: ratioOf(productRow, nestRow), reachFor: '-' },
      half.ratio,
    ];
    return { rows: [...rows, half.row], ratios };
  } finally {
    await Promise.all([product.stop(), unbatched.stop(), bare.stop(), nest.stop()]);
  }
}
