import { spawn } from 'node:child_process';
import { chmodSync, cpSync, chownSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { until } from './until.js';

const READY_MS = 30_000;

export interface PostgresServer {
  readonly port: number;
  /** Of the superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A server, and a hot standby that streams from it, both in this folder. */
export async function startPair(folder: string): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const {
    child,
    superuserUrl: url,
    stop,
  } = await startPostgres({ dataDir: path.join(folder, 'primary'), log: () => undefined });
  const given = child.spawnargs.slice(1);
  const files = given[given.indexOf('-D') + 1] ?? '';
  const copy = `${files}-standby`;
  await withClient(url, async (client) => {
    await client.query(`SELECT pg_backup_start('standby', true)`);
    cpSync(files, copy, { recursive: true, filter: (file) => path.basename(file) !== 'postmaster.pid' });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
    writeFileSync(path.join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
  });
  writeFileSync(path.join(copy, 'standby.signal'), '');
  const { uid, gid } = statSync(files);
  ownAll(copy, uid, gid);
  chmodSync(copy, 0o700);
  const port = await freePort();
  const { hostname, port: primaryPort, username, password } = new URL(url);
  const primary = `host=${hostname} port=${primaryPort} user=${username} password=${password}`;
  const settings = given.filter((_argument, at) => given[at] !== '-D' && given[at - 1] !== '-D');
  const server = spawn(
    child.spawnfile,
    ['-D', copy, ...settings, '-c', `port=${port}`, '-c', `primary_conninfo=${primary}`],
    {
      uid,
      gid,
      cwd: '/',
      stdio: 'ignore',
    },
  );
  const standbyUrl = url.replace(`:${primaryPort}/`, `:${port}/`);
  await until('the standby answers', READY_MS, () =>
    withClient(standbyUrl, () => Promise.resolve(true)).catch(() => false),
  );
  const stopStandby = async (): Promise<void> => {
    if (server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
    rmSync(copy, { recursive: true, force: true });
  };
  return {
    primary: { port: Number(primaryPort), url, stop },
    standby: { port, url: standbyUrl, stop: stopStandby },
  };
}

export const promote = (standby: PostgresServer): Promise<unknown> =>
  withClient(standby.url, (client) => client.query('SELECT pg_promote()'));

function ownAll(place: string, uid: number, gid: number): void {
  chownSync(place, uid, gid);
  if (!statSync(place).isDirectory()) return;
  for (const name of readdirSync(place)) ownAll(path.join(place, name), uid, gid);
}
