import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { freePort } from '../../config/stack/postgres.mjs';
import { isMissing } from './foreign-stack.js';
import { findProgram, stopProcess } from './programs.js';
import { until } from './until.js';

const READY_WITHIN_MS = 15_000;
/** PgBouncer refuses to run as root; this is the user "nobody". */
const NOBODY = 65_534;
/** Settings that daemons send to a server in the startup packet; PgBouncer refuses or ignores them. */
const STARTUP_SETTINGS = 'options, statement_timeout, lock_timeout, idle_in_transaction_session_timeout';

const PROGRAM = findProgram('pgbouncer');
export const pgbouncerIsMissing = isMissing('PgBouncer', 'pgbouncer', PROGRAM !== null);

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction';
  /** Connections to the server per database and role. */
  readonly poolSize: number;
  /** Settings of the startup packet are ignored instead of refused. */
  readonly ignoresSettings: boolean;
}

/** Debian's PgBouncer in front of the server of these URLs. */
export class PgBouncer {
  readonly #folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-pgbouncer-'));
  #child: ChildProcess | null = null;
  #port = 0;

  private constructor(
    private readonly urls: readonly string[],
    private readonly options: PgBouncerOptions,
  ) {}

  /** Resolves when it leads to the server. `urls` has a URL of each role. */
  static async start(urls: readonly string[], options: PgBouncerOptions): Promise<PgBouncer> {
    const pooler = new PgBouncer(urls, options);
    await pooler.run();
    return pooler;
  }

  /** The same role and database through the pooler. */
  urlOf(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${this.#port}`;
    return through.href;
  }

  async stop(): Promise<void> {
    if (this.#child !== null) await stopProcess(this.#child);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  private async run(): Promise<void> {
    this.#port = await freePort();
    const file = this.write('pgbouncer.ini', this.configuration());
    this.write('users.txt', this.urls.map((url) => `"${userOf(url)}" "${passwordOf(url)}"`).join('\n'));
    chmodSync(this.#folder, 0o755);
    const isRoot = process.getuid?.() === 0;
    this.#child = spawn(PROGRAM ?? 'pgbouncer', ['--quiet', file], {
      stdio: 'ignore',
      ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    const [first = ''] = this.urls;
    await until('PgBouncer leads to the server', READY_WITHIN_MS, () => answers(this.urlOf(first)));
  }

  private write(name: string, text: string): string {
    const file = path.join(this.#folder, name);
    writeFileSync(file, `${text}\n`);
    return file;
  }

  private configuration(): string {
    const { mode, poolSize, ignoresSettings } = this.options;
    const { hostname, port } = new URL(this.urls[0] ?? '');
    return [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${this.#port}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${path.join(this.#folder, 'users.txt')}`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${poolSize}`,
      ...(ignoresSettings ? [`ignore_startup_parameters = ${STARTUP_SETTINGS}`] : []),
    ].join('\n');
  }
}

const userOf = (url: string): string => decodeURIComponent(new URL(url).username);
const passwordOf = (url: string): string => decodeURIComponent(new URL(url).password);

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
