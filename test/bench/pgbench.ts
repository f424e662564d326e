import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CpuMeter } from './cpu/meter.js';
import type { MeteredProcess } from './cpu/use.js';
import type { PlainStatement } from './plain-rows.js';
import type { Measure } from './report.js';

const DEBIAN_FOLDER = '/usr/lib/postgresql';
const THREADS = 2;
const TPS = /^tps = ([0-9.]+)/m;

export interface Pgbench {
  readonly program: string;
  /** For example `pgbench 15.18`. */
  readonly words: string;
}

/** The pgbench of this machine, or null: the PostgreSQL from npm has none. */
export function findPgbench(): Pgbench | null {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const programs = [...versions.map((version) => path.join(DEBIAN_FOLDER, version, 'bin/pgbench')), 'pgbench'];
  for (const program of programs) {
    const asked = spawnSync(program, ['--version'], { encoding: 'utf8' });
    const version = asked.error === undefined ? /([0-9.]+)/.exec(asked.stdout)?.[1] : undefined;
    if (version !== undefined) return { program, words: `pgbench ${version}` };
  }
  return null;
}

const scriptOf = (transactions: readonly (readonly PlainStatement[])[]): string =>
  transactions
    .map((statements) =>
      ['BEGIN;', ...statements.map(({ sql, answersIds }) => `${sql}${answersIds ? ' \\gset' : ';'}`), 'COMMIT;'].join(
        '\n',
      ),
    )
    .join('\n');

/** Passed by the environment: every user could read the password on the command line. */
function connection(databaseUrl: string): Record<string, string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  return {
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
  };
}

export interface PgbenchTask {
  readonly databaseUrl: string;
  readonly transactions: readonly (readonly PlainStatement[])[];
  readonly clients: number;
  readonly seconds: number;
  readonly processes: readonly MeteredProcess[];
}

/** It reports transactions per second, no quantiles. */
export async function runPgbench({ program }: Pgbench, task: PgbenchTask): Promise<Measure> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-pgbench-'));
  const script = path.join(folder, 'verification.sql');
  writeFileSync(script, scriptOf(task.transactions));
  const load = ['-c', String(task.clients), '-j', String(THREADS), '-T', String(task.seconds)];
  const meter = new CpuMeter(task.processes).start();
  const child = spawn(program, ['-n', '-M', 'prepared', ...load, '-f', script], {
    env: { ...process.env, ...connection(task.databaseUrl) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, words] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const micros = meter.stop();
  rmSync(folder, { recursive: true, force: true });
  const perSecond = Number(TPS.exec(output)?.[1]);
  if (code !== 0 || Number.isNaN(perSecond)) throw new Error(`pgbench ended with ${String(code)}: ${words}`);
  const cpu = { operations: perSecond * task.seconds, micros };
  return { perSecond, p50Ms: 0, p99Ms: 0, errors: 0, ...(task.processes.length === 0 ? {} : { cpu }) };
}
