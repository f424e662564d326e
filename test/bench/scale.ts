import { createBody } from './create.js';
import { matched, type MessageTarget } from './inbound.js';
import type { HttpsTask } from './load/https.js';
import { phones } from './phones.js';
import { runLoad, type Subject } from './processes.js';
import { combined, type Measure, type Ratio, type Row, type Section } from './report.js';
import { alternate, type Contender } from './rounds.js';
import type { Demo as PreparedDemo } from './seed.js';
import { type Environment, startControlPlane, startGateway, storeProcesses, withoutProcess } from './subjects.js';
import { warmUp } from './warm-up.js';

type Demo = PreparedDemo & { readonly certificate: string };

const SECTION = 'scale';
const COUNTS = [1, 2, 3] as const;
/** To each process: as many of it take as much load as many machines would. */
const CONNECTIONS = 64;
/** The system of the demo has four in all. $1 connections. */
const ALLOW_LINKS = `UPDATE smpp_systems SET max_connections = $1`;
const LINKS_OF_A_GATEWAY = 4;
const PHONES = 4_000;
const MESSAGES = 8_000;

const micros = ({ cpuMicros }: Row): number => cpuMicros?.['total without load'] ?? NaN;

function ratiosOf([one, ...more]: readonly Row[], what: string): Ratio[] {
  if (one === undefined) return [];
  return more.map((row, at) => ({
    section: SECTION,
    name: `CPU per ${what} by ${COUNTS[at + 1] ?? ''} processes / by one`,
    value: Math.round((micros(row) / micros(one)) * 100) / 100,
    reachFor: '<= 1.1',
  }));
}

/** One to three of each application on one database: CPU time per operation, which is what scales on a machine with more cores. */
export async function benchScale(
  environment: Environment,
  demo: Demo,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Section> {
  await demo.database.query(ALLOW_LINKS, [LINKS_OF_A_GATEWAY * COUNTS.length]);
  const planes: Subject[] = [];
  const gateways: Subject[] = [];
  for (const nth of COUNTS) {
    planes.push(await startControlPlane(`control plane ${nth}`, environment));
    gateways.push(await startGateway(`gateway ${nth}`, environment));
  }
  // The stores are measured with the first alone.
  const targets = (subjects: readonly Subject[], count: number): MessageTarget[] =>
    subjects.slice(0, count).map(({ port, processes }, nth) => ({
      port,
      processes: nth === 0 ? [...processes, ...storeProcesses(environment)] : processes,
    }));
  const requests = phones(PHONES).map((phone) => ({ path: '/v1/verify', body: createBody(demo, phone) }));
  const create = ({ port, processes }: MessageTarget, nth: number, all: readonly MessageTarget[]): Promise<Measure> =>
    runLoad<Measure>('https.js', {
      origin: `https://127.0.0.1:${port}`,
      method: 'POST',
      authorization: `Bearer ${demo.apiKey}`,
      requests: requests.filter((_, at) => at % all.length === nth),
      connections: CONNECTIONS,
      seconds,
      processes,
    } satisfies HttpsTask);
  const contender = (
    name: string,
    subjects: readonly Subject[],
    run: (all: readonly MessageTarget[]) => Promise<Measure>,
    count: number,
  ): Contender => ({
    subject: { ...(subjects[0] ?? withoutProcess(name)), name: `${count} × ${name}` },
    run: () => run(targets(subjects, count)),
  });
  const creates = async (all: readonly MessageTarget[]): Promise<Measure> =>
    combined(await Promise.all(all.map(create)));
  const messages = (all: readonly MessageTarget[]): Promise<Measure> => matched(demo, all, MESSAGES * all.length);
  try {
    await warmUp(`${SECTION} creates`, () => creates(targets(planes, planes.length)));
    await warmUp(`${SECTION} messages`, () => messages(targets(gateways, gateways.length)));
    const createRows = await alternate(SECTION, rounds, [
      ...COUNTS.map((count) => contender('control plane', planes, creates, count)),
    ]);
    const messageRows = await alternate(SECTION, rounds, [
      ...COUNTS.map((count) => contender('gateway', gateways, messages, count)),
    ]);
    return {
      rows: [...createRows, ...messageRows],
      ratios: [...ratiosOf(createRows, 'create'), ...ratiosOf(messageRows, 'message')],
    };
  } finally {
    await Promise.all([...planes, ...gateways].map((subject) => subject.stop()));
  }
}
