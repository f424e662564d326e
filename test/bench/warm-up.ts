import { perOperation } from './cpu/use.js';
import { type Measure, summary } from './report.js';
import { agree } from './statistics.js';

/** The largest relative difference of two consecutive runs after warming up. */
const AGREEMENT = 0.1;
const MAX_RUNS = 8;
/** Of baselines of which several processes do the work, or which would take long: they need less precision. */
export const FEW_RUNS = 3;
const MAX_MS = 60_000;
const MICROS_PER_SECOND = 1_000_000;

/** Time per operation: of the CPU without the load generator where it was measured, since that is steadier than the rate. */
export function costOf(measure: Measure): number {
  const micros = measure.cpu === undefined ? undefined : perOperation(measure.cpu)['total without load'];
  return micros ?? MICROS_PER_SECOND / measure.perSecond;
}

/**
 * Repeats a load without measuring it until the costs of two consecutive runs differ by at most 10 %: code that V8 has not
 * optimised yet costs up to twice as much. The runs are as long as measured ones, because short runs agree while the cost
 * still falls. Gives up after `maxRuns` or 60 s with a line on stderr. Returns the number of runs.
 */
export async function warmUp(name: string, run: () => Promise<Measure>, maxRuns = MAX_RUNS): Promise<number> {
  const untilMs = performance.now() + MAX_MS;
  let earlier = Number.NaN;
  for (let runs = 1; ; runs += 1) {
    const measure = await run();
    process.stderr.write(`${name}, warm-up ${runs}: ${summary(measure)}\n`);
    const cost = costOf(measure);
    if (agree(earlier, cost, AGREEMENT)) return runs;
    if (runs === maxRuns || performance.now() > untilMs) {
      process.stderr.write(`${name}: not steady after ${runs} warm-up runs; its first figures may be too high\n`);
      return runs;
    }
    earlier = cost;
  }
}
