import type { MeteredProcess } from './cpu/use.js';
import { benchHalfLoad } from './half-load.js';
import { KANNEL_IS_MISSING, startKannel } from './kannel.js';
import { runLoad, type Subject } from './processes.js';
import type { Pace } from './load/open-loop.js';
import type { SmppTask } from './load/smpp.js';
import { combined, type Measure, type Ratio, type Row, ratioOf, type Section } from './report.js';
import { alternate } from './rounds.js';
import { type Demo, type Message, approvedCount, inRotation, pendingSessions } from './seed.js';
import { type Environment, startBaseline, startGateway, storeProcesses } from './subjects.js';
import { FEW_RUNS, warmUp } from './warm-up.js';

const LINKS = 4;
const WINDOW = 50;
/** The first messages of each run, which are not measured. */
const RAMP_MESSAGES = 1_000;
/** Messages per run: each matches a pending session of its own. */
const MATCHED_MESSAGES = 15_000;
const UNBATCHED_MESSAGES = 4_000;
const BASELINE_MESSAGES = 60_000;
const LINK_LAYER_MESSAGES = 200_000;

const task = (
  demo: Demo,
  port: number,
  messages: readonly Message[],
  processes: readonly MeteredProcess[],
): SmppTask => ({
  port,
  systemId: demo.systemId,
  password: demo.password,
  links: LINKS,
  window: WINDOW,
  messages,
  processes,
  ramp: RAMP_MESSAGES,
});

/** A gateway, and the processes that are measured while messages go through it. */
export type MessageTarget = Pick<Subject, 'port' | 'processes'>;

/** Runs the messages through gateways, in equal shares, and proves that every one of them approved its session in the database. */
export async function matched(
  demo: Demo,
  targets: readonly MessageTarget[],
  count: number,
  pace: Pick<SmppTask, 'perSecond' | 'ramp'> = {},
): Promise<Measure> {
  const before = await approvedCount(demo);
  const messages = await pendingSessions(demo, count);
  const measures = targets.map(({ port, processes }, nth) => {
    const share = messages.filter((_, at) => at % targets.length === nth);
    return runLoad<Measure>('smpp.js', { ...task(demo, port, share, processes), ...pace });
  });
  const measure = combined(await Promise.all(measures));
  const approved = (await approvedCount(demo)) - before;
  if (approved !== count) {
    const answers = `${count} messages were answered, ${measure.errors} with an error`;
    throw new Error(`${answers}, and ${approved} sessions approved`);
  }
  return measure;
}

/**
 * Inbound SMS over SMPP, matched and committed, against the same messages answered without a database and against Kannel with
 * an UPDATE for each; then at half of that throughput.
 */
export async function benchInbound(environment: Environment, demo: Demo, rounds: number): Promise<Section> {
  const product = await startGateway('countersign', environment);
  const unbatched = await startGateway('countersign, batches of one', environment, { batch: 1 });
  const bareLink = await startBaseline('our link, no database', 'bare-link-server.js', environment);
  const npmSmpp = await startBaseline('npm smpp, no database', 'npm-smpp-server.js', environment);
  const kannel = await startKannel(environment, demo);
  const sample = await pendingSessions(demo, 1_000);
  const withStores = ({ port, processes }: Subject): MessageTarget => ({
    port,
    processes: [...processes, ...storeProcesses(environment)],
  });
  const answered =
    ({ port, processes }: Subject, count: number) =>
    (): Promise<Measure> =>
      runLoad<Measure>('smpp.js', task(demo, port, inRotation(sample, count), processes));
  const approving = (subject: Subject, count: number) => (): Promise<Measure> =>
    matched(demo, [withStores(subject)], count);
  const atRate = ({ count, ...pace }: Pace): Promise<Measure> => matched(demo, [withStores(product)], count, pace);
  const contenders = [
    { subject: npmSmpp, run: answered(npmSmpp, BASELINE_MESSAGES) },
    { subject: bareLink, run: answered(bareLink, LINK_LAYER_MESSAGES) },
    { subject: product, run: approving(product, MATCHED_MESSAGES) },
    { subject: unbatched, run: approving(unbatched, UNBATCHED_MESSAGES) },
  ] as const;
  const subjects = [product, unbatched, bareLink, npmSmpp, ...(kannel === null ? [] : [kannel.subject])];
  const compared = kannel === null ? [] : [kannel];
  try {
    for (const { subject, run } of contenders) await warmUp(`inbound ${subject.name}`, run);
    for (const each of compared) await warmUp(`inbound ${each.subject.name}`, () => each.run(), FEW_RUNS);
    const rows = await alternate('inbound', rounds, [...contenders, ...compared]);
    const half = await benchHalfLoad(rows[2], product, rounds, atRate);
    const notes = kannel === null ? [KANNEL_IS_MISSING] : [];
    return { rows: [...rows, half.row], ratios: [...compare(rows), half.ratio], notes };
  } finally {
    await Promise.all(subjects.map((subject) => subject.stop()));
  }
}

function compare([npmSmpp, bareLink, product, unbatched, kannel]: readonly [Row, Row, Row, Row, ...Row[]]): Ratio[] {
  const section = 'inbound';
  const name = 'times Kannel and an UPDATE per message';
  const timesKannel = kannel === undefined ? [] : [{ section, name, value: ratioOf(product, kannel), reachFor: '-' }];
  return [
    { section, name: 'of npm smpp without a database', value: ratioOf(product, npmSmpp), reachFor: '>= 0.33' },
    { section, name: 'of our link without a database', value: ratioOf(product, bareLink), reachFor: '-' },
    { section, name: 'times batches of one', value: ratioOf(product, unbatched), reachFor: '>= 4' },
    ...timesKannel,
    {
      section,
      name: 'our link / npm smpp, both without a database',
      value: ratioOf(bareLink, npmSmpp),
      reachFor: '>= 3',
    },
    { section, name: 'p99 ms, received to answered, 200 in flight', value: product.p99Ms, reachFor: '< 25' },
  ];
}
