import type { SoakFigure, SoakTask } from './load/soak.js';
import { runLoad } from './processes.js';
import type { Ratio, Row } from './report.js';
import { type Environment, startBaseline } from './subjects.js';

const SECTION = 'soak';
const MANNERS = ['mute', 'slow', 'throttling', 'dropping'] as const;

/** Memory of the SMPP client with four kinds of faulty carriers at once, each pair in processes of its own. */
export async function benchSoak(environment: Environment, seconds: number): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const soaked = await Promise.all(MANNERS.map((manner) => soak(environment, manner, seconds)));
  return { rows: soaked.map(({ row }) => row), ratios: soaked.map(({ ratio }) => ratio) };
}

async function soak(
  environment: Environment,
  manner: (typeof MANNERS)[number],
  seconds: number,
): Promise<{ row: Row; ratio: Ratio }> {
  const carrier = await startBaseline(`${manner} carrier`, 'trying-smsc.js', { ...environment, MANNER: manner });
  try {
    const figure = await runLoad<SoakFigure>('soak.js', { port: carrier.port, seconds } satisfies SoakTask);
    const { answered, throttled, unanswered, connections, earlyMiB, lateMiB } = figure;
    const counts = `${answered} answered, ${throttled} throttled, ${unanswered} unanswered, ${connections} connections`;
    process.stderr.write(`soak, ${manner} carrier: ${counts}, ${earlyMiB} to ${lateMiB} MiB\n`);
    const perSecond = Math.round((answered + throttled + unanswered) / seconds);
    const row = { section: SECTION, subject: `client, ${manner} carrier`, perSecond, p50Ms: 0, p99Ms: 0 };
    const value = Math.round((lateMiB / earlyMiB) * 100) / 100;
    const ratio = { section: SECTION, name: `RSS late / early, ${manner} carrier`, value, reachFor: '<= 1.1' };
    return { row: { ...row, errors: unanswered, rssMiB: lateMiB }, ratio };
  } finally {
    await carrier.stop();
  }
}
