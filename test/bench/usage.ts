import { AccountStore } from '@countersign/accounts/accounts';
import { firstIdAt, newId, type Uuid } from '@countersign/ids';
import { Agent, request } from 'undici';
import type { HttpsTask } from './load/https.js';
import { runLoad } from './processes.js';
import type { Measure, Ratio, Row } from './report.js';
import { alternate } from './rounds.js';
import type { Demo } from './seed.js';
import { type Environment, startControlPlane, storeProcesses } from './subjects.js';
import { SteadyCreates } from './steady-creates.js';
import { seedUsage, type UsageSeed } from './usage-seed.js';

const SESSIONS = 10_000_000;
/** A day less than retention: the first edge is still exact, and counted live. */
const DAYS = 29;
const PER_MINUTE = 1_000_000;
/** Of the same account, while it is measured. */
const CREATES_PER_SECOND = 1_000;
/** Before the measure: several folds. */
const RAMP_MS = 10_000;

interface Owner {
  readonly accountId: Uuid;
  readonly brandId: Uuid;
}

interface Caller {
  readonly certificate: string;
  readonly apiKey: string;
  /** With its query. */
  readonly path: string;
}

/** An account with a month of use. */
export interface MonthOfUse {
  readonly apiKey: string;
  readonly ids: Owner;
  /** Half past its first hour. */
  readonly fromMs: number;
  /** Sessions since then. */
  readonly counted: number;
}

/** Makes an account and its past sessions. */
export async function monthOfUse(
  { database, keys }: Pick<Demo, 'database' | 'keys'>,
  size: Pick<UsageSeed, 'sessions' | 'everyHour'>,
): Promise<MonthOfUse> {
  const nowMs = Date.now();
  const accounts = new AccountStore({ keys, newId: () => newId(nowMs) });
  const { account } = await accounts.createAccount(database, { name: 'Bench' });
  const { key } = await accounts.createApiKey(database, {
    accountId: account.id,
    kind: 'live',
    name: 'bench',
    limits: { default: PER_MINUTE, usage: PER_MINUTE },
  });
  const ids = { accountId: account.id, brandId: newId(nowMs) };
  return { ...(await seedUsage(database, { ...ids, nowMs, days: DAYS, ...size })), apiKey: key, ids };
}

/** The count of sessions in the report. */
async function reported(origin: string, { certificate, apiKey, path }: Caller): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: certificate } });
  const answer = await request(origin + path, { dispatcher, headers: { authorization: `Bearer ${apiKey}` } });
  const report = (await answer.body.json()) as { readonly verifications?: { readonly total: number } };
  await dispatcher.close();
  return report.verifications?.total ?? Number.NaN;
}

/** HTTPS `GET /v1/usage` over 10 million sessions of one account, one report at a time; then while it creates 1,000 sessions/s. */
export async function benchUsage(
  environment: Environment,
  demo: Demo & { readonly certificate: string },
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const { counted, ids, apiKey, fromMs } = await monthOfUse(demo, { sessions: SESSIONS });
  const month = { apiKey, path: `/v1/usage?from=${new Date(fromMs).toISOString()}` };
  const product = await startControlPlane('countersign', environment);
  const origin = `https://127.0.0.1:${product.port}`;
  try {
    const total = await reported(origin, { ...month, certificate: demo.certificate });
    if (total !== counted) throw new Error(`${counted} sessions were made and ${total} reported`);
    const run = (): Promise<Measure> =>
      runLoad<Measure>('https.js', {
        origin,
        method: 'GET',
        authorization: `Bearer ${month.apiKey}`,
        requests: [{ path: month.path }],
        connections: 1,
        seconds,
        processes: [...product.processes, ...storeProcesses(environment)],
      } satisfies HttpsTask);
    await run(); // warm, not counted
    const rows = await alternate('usage', rounds, [{ subject: product, run }]);
    const creates = new SteadyCreates(demo.database, { ...ids, perSecond: CREATES_PER_SECOND, firstIdAt });
    await new Promise((resolve) => setTimeout(resolve, RAMP_MS));
    const busy = { ...product, name: 'while the account creates' };
    const during = await alternate('usage', rounds, [{ subject: busy, run }]);
    await creates.stop();
    const reached = Math.round(creates.perSecond);
    const ratios = [
      { section: 'usage', name: 'p50 ms, 10 million sessions', value: rows[0].p50Ms, reachFor: '< 50' },
      {
        section: 'usage',
        name: `p50 ms, at ${reached} sessions/s of the account`,
        value: during[0].p50Ms,
        reachFor: '< 50',
      },
    ];
    return { rows: [...rows, ...during], ratios };
  } finally {
    await product.stop();
  }
}
