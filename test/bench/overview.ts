import { newId } from '@countersign/ids';
import type { HttpsAtRateTask } from './load/https-at-rate.js';
import { runLoad } from './processes.js';
import type { Measure, Ratio, Row } from './report.js';
import { alternate } from './rounds.js';
import type { Demo } from './seed.js';
import { type Environment, startControlPlane, storeProcesses } from './subjects.js';
import { BRANDS, seedOverview } from './overview-seed.js';
import { seedUsage } from './usage-seed.js';

const SESSIONS = 10_000_000;
const DAYS = 29;
/** Below the limit of an admin key, 600 a minute. */
const PACE = { perSecond: 2, count: 16, ramp: 2 };
const GROUPINGS = ['', 'country', 'channel', 'brand', 'route', 'day'] as const;

/** HTTPS `GET /v1/admin/overview` over a month of 10 million sessions, by each grouping. */
export async function benchOverview(
  environment: Environment,
  demo: Demo,
  rounds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const nowMs = Date.now();
  const seed = { accountId: newId(nowMs), brandId: newId(nowMs), nowMs, days: DAYS, sessions: SESSIONS };
  const { fromMs } = await seedUsage(demo.database, seed);
  const counted = await seedOverview(demo.database);
  process.stderr.write(`overview: ${counted} sessions in hours, ${BRANDS} brands\n`);
  const product = await startControlPlane('countersign', environment);
  const run = (groupBy: string): Promise<Measure> =>
    runLoad<Measure>('https-at-rate.js', {
      port: product.port,
      apiKey: environment['COUNTERSIGN_ADMIN_KEY'] ?? '',
      method: 'GET',
      requests: [
        {
          path: `/v1/admin/overview?from=${new Date(fromMs).toISOString()}${groupBy === '' ? '' : `&groupBy=${groupBy}`}`,
        },
      ],
      pace: PACE,
      expected: groupBy === '' ? 'funnel' : 'breakdown',
      processes: [...product.processes, ...storeProcesses(environment)],
    } satisfies HttpsAtRateTask);
  try {
    const rows: Row[] = [];
    for (const groupBy of GROUPINGS) {
      const subject = { ...product, name: groupBy === '' ? 'overview' : `by ${groupBy}` };
      rows.push(...(await alternate('overview', rounds, [{ subject, run: () => run(groupBy) }])));
    }
    const ratios = rows.map(({ subject, p50Ms }): Ratio => ({
      section: 'overview',
      name: `p50 ms, 10 million sessions, ${subject}`,
      value: p50Ms,
      reachFor: '< 100',
    }));
    return { rows, ratios };
  } finally {
    await product.stop();
  }
}
