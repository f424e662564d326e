import type { OfferedMeasure, OfferOrder, OpenOrder } from './load/offered.js';
import type { HttpsTask } from './load/https.js';
import type { SmppTask } from './load/smpp.js';
import { createBody } from './create.js';
import { phones } from './phones.js';
import { runLoad, startLoad, type Subject } from './processes.js';
import type { Measure, Ratio, Row, Section } from './report.js';
import { type Demo, pendingSessions } from './seed.js';
import { median } from './statistics.js';
import { type Environment, startControlPlane, startGateway, storeProcesses } from './subjects.js';
import { warmUp } from './warm-up.js';

const SECTION = 'overload';
const PHONES = 4_000;
const SATURATING_CONNECTIONS = 64;
/** Callers wait for at most so many answers at the same time: one account may have 5,000 connections. */
const CONNECTIONS = 4_500;
const FACTORS = [1, 2, 5] as const;
const SECONDS = 5;
const MO_PER_SECOND = 100;
/** Messages flow for longer than creates are offered. */
const MO_SECONDS = SECONDS + 3;

interface Round {
  readonly creates: OfferedMeasure;
  readonly messages: Measure;
}

/**
 * Creates offered at once, twice and five times the capacity, in an open loop, while messages arrive at a low rate: what is still
 * accepted, how fast the rest is refused, and how long the messages take.
 */
export async function benchOverload(
  environment: Environment,
  demo: Demo & { readonly certificate: string },
  rounds: number,
): Promise<Section> {
  const plane = await startControlPlane('countersign', environment);
  const gateway = await startGateway('countersign', environment);
  const bodies = phones(PHONES).map((phone) => createBody(demo, phone));
  const saturate = (): Promise<Measure> =>
    runLoad<Measure>('https.js', {
      origin: `https://127.0.0.1:${plane.port}`,
      method: 'POST',
      authorization: `Bearer ${demo.apiKey}`,
      requests: bodies.map((body) => ({ path: '/v1/verify', body })),
      connections: SATURATING_CONNECTIONS,
      seconds: SECONDS,
      processes: [...plane.processes, ...storeProcesses(environment)],
    } satisfies HttpsTask);
  const callers = startLoad('offered.js');
  const offer = (perSecond: number): Promise<OfferedMeasure> =>
    callers.ask<OfferedMeasure>({ kind: 'offer', bodies, perSecond, seconds: SECONDS } satisfies OfferOrder);
  const receive = async (): Promise<Measure> =>
    runLoad<Measure>('smpp.js', {
      ...{ port: gateway.port, systemId: demo.systemId, password: demo.password, links: 1, window: 50 },
      messages: await pendingSessions(demo, MO_PER_SECOND * MO_SECONDS),
      ...{ perSecond: MO_PER_SECOND, ramp: MO_PER_SECOND },
    } satisfies SmppTask);
  try {
    await warmUp(`${SECTION} creates`, saturate);
    const capacity = (await saturate()).perSecond;
    const quiet = await receive();
    const { apiKey } = demo;
    await callers.ask({ kind: 'open', port: plane.port, apiKey, connections: CONNECTIONS } satisfies OpenOrder);
    const results = new Map<number, Round[]>(FACTORS.map((factor) => [factor, []]));
    for (let round = 1; round <= rounds; round += 1) {
      for (const factor of FACTORS) {
        const [creates, messages] = await Promise.all([offer(capacity * factor), receive()]);
        results.get(factor)?.push({ creates, messages });
        process.stderr.write(
          `${SECTION} ${round}/${rounds} ${factor} × ${capacity}/s: ${describe(creates, messages)}\n`,
        );
      }
    }
    return sectionOf({ plane, gateway, capacity, quiet, results });
  } finally {
    await Promise.all([callers.stop(), plane.stop(), gateway.stop()]);
  }
}

function describe(
  { goodput, refused, failed, sent, acceptedP99Ms, refusedP99Ms }: OfferedMeasure,
  mo: Measure,
): string {
  const others = failed === 0 ? '' : `, ${failed} failed`;
  return `sent ${sent}/s, accepted ${goodput}/s (p99 ${acceptedP99Ms} ms), refused ${refused}/s (p99 ${refusedP99Ms} ms)${others}, MO p99 ${mo.p99Ms} ms`;
}

interface Results {
  readonly plane: Subject;
  readonly gateway: Subject;
  readonly capacity: number;
  readonly quiet: Measure;
  readonly results: ReadonlyMap<number, readonly Round[]>;
}

function sectionOf({ plane, gateway, capacity, quiet, results }: Results): Section {
  const medianOf = (factor: number, figure: (round: Round) => number): number =>
    median((results.get(factor) ?? []).map(figure));
  const rowOf = (
    subject: string,
    process: Subject,
    figures: Pick<Row, 'perSecond' | 'p50Ms' | 'p99Ms' | 'errors'>,
  ): Row => ({
    ...{ section: SECTION, subject, rssMiB: process.rssMiB() },
    ...figures,
  });
  const rows = FACTORS.flatMap((factor): Row[] => [
    rowOf(`creates accepted of ${factor} × ${capacity}/s`, plane, {
      perSecond: medianOf(factor, ({ creates }) => creates.goodput),
      p50Ms: medianOf(factor, ({ creates }) => creates.acceptedP50Ms),
      p99Ms: medianOf(factor, ({ creates }) => creates.acceptedP99Ms),
      errors: medianOf(factor, ({ creates }) => creates.failed),
    }),
    rowOf(`MOs beside ${factor} ×`, gateway, {
      perSecond: medianOf(factor, ({ messages }) => messages.perSecond),
      p50Ms: medianOf(factor, ({ messages }) => messages.p50Ms),
      p99Ms: medianOf(factor, ({ messages }) => messages.p99Ms),
      errors: medianOf(factor, ({ messages }) => messages.errors),
    }),
  ]);
  const { perSecond, p50Ms, p99Ms, errors } = quiet;
  const quietRow = rowOf('MOs alone', gateway, { perSecond, p50Ms, p99Ms, errors });
  const goodput = (factor: number): number => medianOf(factor, ({ creates }) => creates.goodput);
  const two = (value: number): number => Math.round(value * 100) / 100;
  const ratio = (name: string, value: number, reachFor: string): Ratio => ({ section: SECTION, name, value, reachFor });
  return {
    rows: [quietRow, ...rows],
    ratios: [
      ratio('goodput at 2 × of that at 1 ×', two(goodput(2) / goodput(1)), '-'),
      ratio('goodput at 5 × of that at 1 ×', two(goodput(5) / goodput(1)), '>= 0.85'),
      ratio('MO p99 at 5 ×, times alone', two(medianOf(5, ({ messages }) => messages.p99Ms) / p99Ms), '< 3'),
      ratio(
        'p99 ms of a refusal at 5 ×',
        medianOf(5, ({ creates }) => creates.refusedP99Ms),
        '-',
      ),
    ],
  };
}
