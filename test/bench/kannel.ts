import { mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isKannelInstalled, Kannel } from '../support/kannel.js';
import { type MeteredProcess, withoutProbes } from './cpu/use.js';
import type { ListenOrder, SendOrder } from './load/smsc.js';
import { noteProcess, rssMiB, startLoad, type Subject } from './processes.js';
import type { Measure } from './report.js';
import type { Contender } from './rounds.js';
import type { Demo } from './seed.js';
import { type Environment, startBaseline, storeProcesses } from './subjects.js';

const LINKS = 4;
const UNDER_WAY = 200;
const MESSAGES = 3_000;
/** The first MOs of each run, which are not measured. */
const RAMP_MESSAGES = 500;
const ACCOUNT = { systemId: 'bench', password: 'bench' };
const PANICS_ALONE = 4;

export const KANNEL_NAME = 'Kannel, an UPDATE per message';
export const KANNEL_IS_MISSING = 'inbound: no comparison with Kannel (not on this machine: apt-get install kannel)';

const FIRST_NUMBER = 2_000_000;

/** Of the phones and tokens that were made so far. */
let made = 0;

interface Mo {
  readonly source: string;
  readonly text: string;
}

/** Sessions as a user would store them, and their messages. */
async function openSessions({ database }: Demo, count: number): Promise<Mo[]> {
  const sessions = Array.from({ length: count }, (_, at) => {
    const number = String(FIRST_NUMBER + made + at);
    return { phone: `+1415${number}`, token: `AUTH-ACME-${number.padStart(16, '0')}` };
  });
  made += count;
  await database.query(`INSERT INTO plain_mo_sessions (phone, token) SELECT * FROM unnest($1::text[], $2::text[])`, [
    sessions.map(({ phone }) => phone),
    sessions.map(({ token }) => token),
  ]);
  return sessions.map(({ phone, token }) => ({
    source: phone.slice(1),
    text: `${token}\nSend this message to sign in to Acme.`,
  }));
}

async function createTable({ database }: Demo): Promise<void> {
  await database.query('DROP TABLE IF EXISTS plain_mo_sessions');
  await database.query(`CREATE TABLE plain_mo_sessions (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), phone text NOT NULL, token text NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'pending', created_at timestamptz NOT NULL DEFAULT now(), approved_at timestamptz)`);
}

async function approvedCount({ database }: Demo): Promise<number> {
  const sql = `SELECT count(*)::int AS n FROM plain_mo_sessions WHERE status = 'approved'`;
  const [row] = await database.query<{ n: number }>(sql);
  return row?.n ?? 0;
}

/** Below the data directory of the run, so that the launcher recognises a Kannel that a killed bench has left. */
function folderOfRun(): string {
  const noted = process.env['BENCH_PROCESS_FILE'];
  const folder = path.join(noted === undefined ? os.tmpdir() : path.dirname(noted), 'kannel');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Debian's Kannel bound to an SMSC of the bench by four links, which fetches a URL of a Fastify server for every MO: that
 * approves the session by one UPDATE and commits it. As many MOs are under way as at the product, but Kannel answers a
 * deliver_sm before the UPDATE, so an MO counts when it is committed. Its CPU time and
 * memory are of both programs of Kannel and of the server; what they allocate is not known. Null where Kannel is not installed.
 */
export async function startKannel(environment: Environment, demo: Demo): Promise<Contender | null> {
  if (!isKannelInstalled()) return null;
  await createTable(demo);
  const receiver = await startBaseline(KANNEL_NAME, 'updating-receiver.js', environment);
  const smsc = startLoad('smsc.js');
  const processedUrl = `http://127.0.0.1:${receiver.port}/updated`;
  const smscPort = await smsc.ask<number>({ kind: 'listen', processedUrl } satisfies ListenOrder);
  const options = { links: LINKS, folder: folderOfRun(), logLevel: PANICS_ALONE };
  const kannel = new Kannel({ smscPort, receiverPort: receiver.port, ...ACCOUNT, ...options });
  const stop = async (): Promise<void> => {
    await kannel.remove();
    await Promise.all([smsc.stop(), receiver.stop()]);
  };
  await kannel.start().catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  for (const pid of kannel.pids) noteProcess(pid);
  const ofKannel = kannel.pids.map((pid): MeteredProcess => ({ role: 'baseline', pid }));
  const own = [...withoutProbes(receiver.processes), ...ofKannel];
  const rssOfAll = (): number => own.reduce((all, { pid }) => all + rssMiB(pid), 0);
  const subject: Subject = { ...receiver, processes: own, rssMiB: rssOfAll, stop };
  const stores = storeProcesses({ ...environment, REDIS_URL: '' });
  const run = async (): Promise<Measure> => {
    const before = await approvedCount(demo);
    const messages = await openSessions(demo, MESSAGES);
    const processes = [...subject.processes, ...stores];
    const order: SendOrder = { kind: 'send', messages, underWay: UNDER_WAY, ramp: RAMP_MESSAGES, processes };
    const measure = await smsc.ask<Measure>(order);
    const approved = (await approvedCount(demo)) - before;
    if (approved !== MESSAGES) throw new Error(`${MESSAGES} MOs were sent and ${approved} sessions approved`);
    return measure;
  };
  return { subject, run };
}
