import type { Pace } from './load/open-loop.js';
import type { Subject } from './processes.js';
import type { Measure, Ratio, Row } from './report.js';
import { alternate } from './rounds.js';
import { warmUp } from './warm-up.js';

/** Below this share of the intended rate a queue grows, and the latencies depend on the length of the run. */
const LEAST_SHARE = 0.97;
const RAMP_SECONDS = 1;
const SECONDS = 4;

/** Half of a throughput, per second. */
export function halfPace(perSecond: number): Pace {
  const half = Math.max(1, Math.round(perSecond / 2));
  return { perSecond: half, count: half * (RAMP_SECONDS + SECONDS), ramp: half * RAMP_SECONDS };
}

export const isReached = (achieved: number, intended: number): boolean => achieved >= LEAST_SHARE * intended;

/** The ratio of the achieved rate to the intended one, and the row, which is marked where that ratio is too small. */
export function judgePace(row: Row, perSecond: number): { row: Row; ratio: Ratio } {
  const marked = { ...row, subject: `${row.subject}, RATE NOT REACHED` };
  // Rounded down, so that a ratio below the limit is not printed as the limit.
  const value = Math.floor((row.perSecond / perSecond) * 1_000) / 1_000;
  const name = 'half load, achieved of the intended rate';
  return {
    row: isReached(row.perSecond, perSecond) ? row : marked,
    ratio: { section: row.section, name, value, reachFor: `>= ${LEAST_SHARE}` },
  };
}

/** Runs a subject at half of the throughput of its saturated row; `run` sends the requests when they are due. */
export async function benchHalfLoad(
  saturated: Row,
  subject: Subject,
  rounds: number,
  run: (pace: Pace) => Promise<Measure>,
): Promise<{ row: Row; ratio: Ratio }> {
  const pace = halfPace(saturated.perSecond);
  const half = { ...subject, name: `${subject.name}, half load, ${pace.perSecond}/s` };
  // The batches are smaller than those of the saturated load.
  await warmUp(`${saturated.section} ${half.name}`, () => run(pace));
  const [row] = await alternate(saturated.section, rounds, [{ subject: half, run: () => run(pace) }]);
  return judgePace(row, pace.perSecond);
}
