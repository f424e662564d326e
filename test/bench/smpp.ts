import type { ClientTask } from './load/smpp-client.js';
import type { CodecFigure, CodecTask } from './load/codec.js';
import type { DeliverTask } from './load/smpp-deliver.js';
import type { SmppTask } from './load/smpp.js';
import { runLoad, type Subject } from './processes.js';
import { type Measure, type Ratio, type Row, ratioOf } from './report.js';
import { alternate } from './rounds.js';
import { type Environment, startBaseline, withoutProcess } from './subjects.js';

const SECTION = 'smpp';
const WINDOWS = [1, 10, 50, 200];
/** The window of the ratio that the bench reports. */
const JUDGED = 50;
const LATENCY_MS = 20;
const TEXT = '042137 is your Acme code. Do not share it.';
/** Messages per run to a server, by window: a second or two for the slower server. */
const MESSAGES: Readonly<Record<number, number>> = { 1: 15_000, 10: 40_000, 50: 60_000, 200: 60_000 };

type Figures = { readonly rows: readonly Row[]; readonly ratios: readonly Ratio[] };

const ratio = (name: string, value: number, reachFor: string): Ratio => ({ section: SECTION, name, value, reachFor });

/** A pair at each window, alternating. */
async function sideBySide(
  what: string,
  rounds: number,
  run: (stack: 'ours' | 'npm', window: number) => Promise<Measure>,
  rssMiB: (stack: 'ours' | 'npm') => number = () => 0,
): Promise<Figures> {
  const figures = { rows: new Array<Row>(), ratios: new Array<Ratio>() };
  for (const window of WINDOWS) {
    const contender = (stack: 'ours' | 'npm') => {
      const subject = withoutProcess(`${what}, ${stack === 'ours' ? 'ours' : 'npm smpp'}, window ${window}`);
      return { subject: { ...subject, rssMiB: () => rssMiB(stack) }, run: () => run(stack, window) };
    };
    const [npm, ours] = await alternate(SECTION, rounds, [contender('npm'), contender('ours')]);
    figures.rows.push(npm, ours);
    const reachFor = window === JUDGED ? '>= 2' : '-';
    figures.ratios.push(ratio(`${what}, window ${window}, of npm smpp`, ratioOf(ours, npm), reachFor));
  }
  return figures;
}

async function servers(environment: Environment, rounds: number): Promise<Figures> {
  const subjects = {
    ours: await startBaseline('our server', 'metered-link-server.js', environment),
    npm: await startBaseline('npm smpp server', 'npm-smpp-server.js', environment),
  };
  const task = ({ port, processes }: Subject, window: number): SmppTask => {
    const message = { source: '14155552671', text: TEXT };
    const messages = Array.from({ length: MESSAGES[window] ?? 0 }, () => message);
    return { port, systemId: 'bench', password: 'bench', links: 1, window, messages, processes };
  };
  try {
    return await sideBySide(
      'server takes',
      rounds,
      (stack, window) => runLoad<Measure>('smpp.js', task(subjects[stack], window)),
      (stack) => subjects[stack].rssMiB(),
    );
  } finally {
    await Promise.all([subjects.ours.stop(), subjects.npm.stop()]);
  }
}

async function clients(environment: Environment, rounds: number, seconds: number): Promise<Figures> {
  const smsc = await startBaseline('plain SMSC', 'plain-smsc.js', environment);
  try {
    return await sideBySide('client sends (MT)', rounds, (stack, window) =>
      runLoad<Measure>('smpp-client.js', { stack, port: smsc.port, window, seconds } satisfies ClientTask),
    );
  } finally {
    await smsc.stop();
  }
}

const deliveries = (rounds: number, seconds: number): Promise<Figures> =>
  sideBySide('client receives (MO)', rounds, (stack, window) =>
    runLoad<Measure>('smpp-deliver.js', { stack, window, seconds } satisfies DeliverTask),
  );

/**
 * With a carrier that answers after 20 ms, a window of w allows at most w ÷ 20 ms. Timers of a busy machine fire late,
 * for the carrier too: plain sockets show the carrier's own share of the difference.
 */
async function farAway(environment: Environment, rounds: number, seconds: number): Promise<Figures> {
  const slow = { ...environment, LATENCY_MS: String(LATENCY_MS) };
  const smsc = await startBaseline('plain SMSC, 20 ms away', 'plain-smsc.js', slow);
  const contender = (stack: 'ours' | 'plain', window: number) => ({
    subject: withoutProcess(`${LATENCY_MS} ms away, ${stack === 'ours' ? 'ours' : 'plain sockets'}, window ${window}`),
    run: () => runLoad<Measure>('smpp-client.js', { stack, port: smsc.port, window, seconds } satisfies ClientTask),
  });
  const figures = { rows: new Array<Row>(), ratios: new Array<Ratio>() };
  try {
    for (const window of WINDOWS) {
      const [plain, ours] = await alternate(SECTION, rounds, [contender('plain', window), contender('ours', window)]);
      const share = Math.round((ours.perSecond / (window / (LATENCY_MS / 1_000))) * 100) / 100;
      const about = `${LATENCY_MS} ms away, window ${window}`;
      figures.rows.push(plain, ours);
      figures.ratios.push(ratio(`${about}, of window / latency`, share, '>= 0.95'));
      figures.ratios.push(ratio(`${about}, of plain sockets`, ratioOf(ours, plain), '>= 0.95'));
    }
    return figures;
  } finally {
    await smsc.stop();
  }
}

async function codec(seconds: number): Promise<Figures> {
  const figures = await runLoad<CodecFigure[]>('codec.js', { seconds } satisfies CodecTask);
  const still = { section: SECTION, p50Ms: 0, p99Ms: 0, errors: 0, rssMiB: 0 };
  return {
    rows: figures.flatMap(({ what, oursPerSecond, npmPerSecond }) => [
      { ...still, subject: `${what}, npm smpp`, perSecond: npmPerSecond },
      { ...still, subject: `${what}, ours`, perSecond: oursPerSecond },
    ]),
    ratios: figures.map(({ what, oursPerSecond, npmPerSecond }) =>
      ratio(`${what}, of npm smpp`, Math.round((oursPerSecond / npmPerSecond) * 10) / 10, '>= 5'),
    ),
  };
}

/**
 * The SMPP engine against npm `smpp`, without a database: as server and as client, at four windows, on one connection;
 * the engine with every check, timer and metric of the gateway. Then a carrier with a latency of 20 ms, and the codecs
 * alone.
 */
export async function benchSmpp(
  environment: Environment,
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const figures = [
    await servers(environment, rounds),
    await clients(environment, rounds, seconds),
    await deliveries(rounds, seconds),
    await farAway(environment, rounds, seconds),
    await codec(seconds),
  ];
  return { rows: figures.flatMap(({ rows }) => rows), ratios: figures.flatMap(({ ratios }) => ratios) };
}
