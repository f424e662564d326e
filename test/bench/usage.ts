import { AccountStore } from '@countersign/accounts/accounts';
import { newId } from '@countersign/ids';
import { Agent, request } from 'undici';
import type { HttpsTask } from './load/https.js';
import { runLoad } from './processes.js';
import type { Measure, Ratio, Row } from './report.js';
import { alternate } from './rounds.js';
import type { Demo } from './seed.js';
import { type Environment, startControlPlane, storeProcesses } from './subjects.js';
import { seedUsage } from './usage-seed.js';

const SESSIONS = 10_000_000;
/** A day less than retention: the first edge is still exact, and counted live. */
const DAYS = 29;
const PER_MINUTE = 1_000_000;

interface Caller {
  readonly certificate: string;
  readonly apiKey: string;
  /** With its query. */
  readonly path: string;
}

/** An account with a month of use, and the call that reports it. */
async function monthOfUse(demo: Demo): Promise<Omit<Caller, 'certificate'> & { readonly counted: number }> {
  const { database, keys } = demo;
  const nowMs = Date.now();
  const accounts = new AccountStore({ keys, newId: () => newId(nowMs) });
  const { account } = await accounts.createAccount(database, { name: 'Bench' });
  const { key } = await accounts.createApiKey(database, {
    accountId: account.id,
    kind: 'live',
    name: 'bench',
    limits: { default: PER_MINUTE, usage: PER_MINUTE },
  });
  const seed = { accountId: account.id, brandId: newId(nowMs), nowMs, days: DAYS, sessions: SESSIONS };
  const { fromMs, counted } = await seedUsage(database, seed);
  return { apiKey: key, counted, path: `/v1/usage?from=${new Date(fromMs).toISOString()}` };
}

/** The count of sessions in the report. */
async function reported(origin: string, { certificate, apiKey, path }: Caller): Promise<number> {
  const dispatcher = new Agent({ connect: { ca: certificate } });
  const answer = await request(origin + path, { dispatcher, headers: { authorization: `Bearer ${apiKey}` } });
  const report = (await answer.body.json()) as { readonly verifications?: { readonly total: number } };
  await dispatcher.close();
  return report.verifications?.total ?? Number.NaN;
}

/** HTTPS `GET /v1/usage` over 10 million sessions of one account, one report at a time. */
export async function benchUsage(
  environment: Environment,
  demo: Demo & { readonly certificate: string },
  rounds: number,
  seconds: number,
): Promise<{ rows: Row[]; ratios: Ratio[] }> {
  const product = await startControlPlane('countersign', environment);
  const origin = `https://127.0.0.1:${product.port}`;
  try {
    const { counted, ...month } = await monthOfUse(demo);
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
    const value = rows[0].p50Ms;
    return { rows, ratios: [{ section: 'usage', name: 'p50 ms, 10 million sessions', value, reachFor: '< 50' }] };
  } finally {
    await product.stop();
  }
}
