import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort, startPostgres } from '../../config/stack/postgres.mjs';
import { asOwner, migrated } from '../support/database.js';
import { until } from '../support/until.js';

const MAIN = path.resolve('dist/apps/gateway/src/main.js');
const MIGRATE = path.resolve('dist/apps/control-plane/src/migration/migrate.js');
const ROTATE = path.resolve('dist/apps/control-plane/src/key-rotation/rotate-master-key.js');
const READY_WITHIN_MS = 60_000;
const GONE_WITHIN_MS = 45_000;

let folder: string;
let postgres: Awaited<ReturnType<typeof startPostgres>>;
let environment: Record<string, string>;
const started: ChildProcess[] = [];

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-gateway-'));
  postgres = await startPostgres({ dataDir: folder, log: () => undefined });
  await migrated(postgres);
  environment = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: postgres.url,
    COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
    GATEWAY_SMPP_PORT: String(await freePort()),
    GATEWAY_HTTP_PORT: String(await freePort()),
    GATEWAY_OPS_PORT: String(await freePort()),
  };
});
afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Gateway {
  readonly child: ChildProcess;
  readonly output: string[];
  /** Resolves with the exit code, once all output of the process has been read. */
  readonly exit: Promise<number | null>;
}

function start(changes: Record<string, string> = {}): Gateway {
  const child = fork(MAIN, [], { env: { ...environment, ...changes }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  started.push(child);
  // Not "close": it is never emitted after this side has disconnected the IPC channel.
  const output: string[] = [];
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams) stream.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  // A process may have exited before its last lines are read.
  const ended = streams.map((stream) => once(stream, 'end'));
  const exit = once(child, 'exit').then(async ([code]: unknown[]) => {
    await Promise.all(ended);
    return typeof code === 'number' ? code : null;
  });
  return { child, output, exit };
}

const linesOf = ({ output }: Gateway): { readonly msg: string; readonly step?: string }[] =>
  output
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { msg: string });

async function ready(gateway: Gateway): Promise<void> {
  await until('the gateway says that it is ready', READY_WITHIN_MS, () => {
    expect(gateway.child.exitCode, gateway.output.join('')).toBeNull();
    return linesOf(gateway).some(({ msg }) => msg === 'ready');
  });
  const port = environment['GATEWAY_OPS_PORT'] ?? '';
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
}

const gone = async ({ exit }: Gateway): Promise<number | null | 'still there'> =>
  Promise.race([exit, new Promise<'still there'>((resolve) => setTimeout(resolve, GONE_WITHIN_MS, 'still there'))]);

describe('the process of the gateway', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('is ready, and ends in order on %s', async (signal) => {
    const gateway = start();
    await ready(gateway);
    gateway.child.kill(signal);
    expect(await gone(gateway)).toBe(0);
    const done = linesOf(gateway).filter(({ msg }) => msg === 'stop step done');
    expect(done.map(({ step }) => step)).toEqual([
      'stop accepting',
      'stop sending',
      'stop reconnecting',
      'answer received messages, unbind',
      'drain the batchers',
      'remove the gateway row',
      'stop maintenance',
      'close the job notifier and the bus',
      'close the database',
      'close operations',
    ]);
  });

  it('ends in order when the process that started it is gone', async () => {
    const gateway = start();
    await ready(gateway);
    gateway.child.disconnect();
    expect(await gone(gateway)).toBe(0);
  });

  it('ends while it is still starting, too', async () => {
    const gateway = start();
    gateway.child.disconnect();
    expect(await gone(gateway)).not.toBe('still there');
  });

  it('says which port is taken and what to do', async () => {
    const squatter = net.createServer().listen(Number(environment['GATEWAY_SMPP_PORT']), '127.0.0.1');
    await once(squatter, 'listening');
    const gateway = start();
    expect(await gone(gateway)).toBe(1);
    expect(gateway.output.join('')).toMatch(/GATEWAY_SMPP_PORT.*set another port/);
    squatter.close();
  });

  it('starts on no database that was not migrated, names the command, and starts after it', async () => {
    const [ownerUrl, url, gatewayUrl] = [postgres.ownerUrl, postgres.url, postgres.gatewayUrl].map((text) =>
      Object.assign(new URL(text), { pathname: '/later' }),
    );
    await asOwner(
      { ...postgres, ownerUrl: postgres.superuserUrl },
      `CREATE DATABASE later OWNER ${ownerUrl?.username ?? ''}`,
    );
    // As config/stack/roles.sql does; the processes warn otherwise.
    await asOwner({ ...postgres, ownerUrl: ownerUrl?.href ?? '' }, 'REVOKE TEMPORARY ON DATABASE later FROM PUBLIC');
    const [DATABASE_URL = '', DATABASE_MIGRATION_URL = ''] = [url?.href, ownerUrl?.href];
    const early = start({ DATABASE_URL, NODE_ENV: 'production' });
    expect(await gone(early)).toBe(1);
    expect(early.output.join('')).toMatch(
      /the database has no tables: run "npm run migrate" with DATABASE_MIGRATION_URL/,
    );
    const password = url?.password ?? '';
    expect(password).not.toBe('');
    for (const words of [/^migrated: FirstTables1700000000001, /, /^the database is up to date$/m]) {
      const options = {
        env: { PATH: process.env['PATH'], DATABASE_URL, DATABASE_MIGRATION_URL },
        encoding: 'utf8',
      } as const;
      const { status, stderr } = spawnSync(process.execPath, [MIGRATE], options);
      expect(stderr).toMatch(words);
      expect(stderr).not.toContain(password);
      expect(status).toBe(0);
    }
    const one = start({ DATABASE_URL, NODE_ENV: 'production' });
    await ready(one);
    one.child.kill('SIGTERM');
    expect(await gone(one)).toBe(0);
    expect(one.output.join('')).not.toContain('"level":"warn"');
    const own = { DATABASE_URL: gatewayUrl?.href ?? '', NODE_ENV: 'production' };
    expect(await gone(start(own))).toBe(1);
    const DATABASE_GATEWAY_ROLE = gatewayUrl?.username ?? '';
    const env = { PATH: process.env['PATH'], DATABASE_URL, DATABASE_MIGRATION_URL, DATABASE_GATEWAY_ROLE };
    expect(spawnSync(process.execPath, [MIGRATE], { env, encoding: 'utf8' })).toMatchObject({ status: 0 });
    await ready(start(own));
  });

  it('warns in production of a role that owns the tables, and without NODE_ENV, and starts all the same', async () => {
    const owned = start({ DATABASE_URL: postgres.ownerUrl, NODE_ENV: 'production' });
    await ready(owned);
    expect(owned.output.join('')).toMatch(
      /"level":"warn".*the role countersign_owner of DATABASE_URL .* it owns the tables/,
    );
    owned.child.kill('SIGTERM');
    expect(await gone(owned)).toBe(0);
    const unnamed = start();
    await ready(unnamed);
    const warnings = unnamed.output.join('').match(/"level":"warn".*/g);
    expect(warnings).toEqual([expect.stringMatching(/NODE_ENV is not set.*set NODE_ENV=production/)]);
  });

  it("migrates with an error when the daemons' role could change audit entries", () => {
    const superuser = new URL(postgres.superuserUrl);
    const env = { PATH: process.env['PATH'], DATABASE_URL: superuser.href, DATABASE_MIGRATION_URL: postgres.ownerUrl };
    const { status, stderr } = spawnSync(process.execPath, [MIGRATE], { env, encoding: 'utf8' });
    expect(stderr).toContain(`the role ${superuser.username} could change or remove audit entries`);
    expect(stderr).not.toContain(superuser.password);
    expect(status).toBe(1);
  });

  it('migrates, and refuses arguments, without writing terminal escapes of names to the terminal', async () => {
    const name = 'odd\u001b]0;title\u0007\u009b2J';
    await asOwner(
      { ...postgres, ownerUrl: postgres.superuserUrl },
      `CREATE ROLE "${name}" SUPERUSER LOGIN PASSWORD 'p'`,
    );
    const url = new URL(postgres.url);
    url.username = name;
    const env = { PATH: process.env['PATH'], DATABASE_URL: url.href, DATABASE_MIGRATION_URL: postgres.ownerUrl };
    const migrating = spawnSync(process.execPath, [MIGRATE], { env, encoding: 'utf8' });
    const rotating = spawnSync(process.execPath, [ROTATE, name], { env, encoding: 'utf8' });
    for (const { stderr, stdout } of [migrating, rotating]) {
      expect(stderr).toContain('odd\\u{1b}]0;title\\u{7}\\u{9b}2J');
      expect(stderr + stdout).not.toMatch(/(?!\n)\p{Cc}/u);
    }
  });

  it('does not start with another master key than its database was used with, and says what to do', async () => {
    const first = start();
    await ready(first);
    first.child.kill('SIGTERM');
    expect(await gone(first)).toBe(0);
    const wrong = randomBytes(32).toString('base64');
    const gateway = start({ COUNTERSIGN_MASTER_KEY: wrong });
    expect(await gone(gateway)).toBe(1);
    const output = gateway.output.join('');
    expect(output).toMatch(/version 1 of COUNTERSIGN_MASTER_KEY is not the key .* Set the earlier key again/);
    expect(output).not.toContain(wrong);
  });

  it('names every variable that is wrong, and no secret', async () => {
    const gateway = start({ COUNTERSIGN_MASTER_KEY: 'too-short', GATEWAY_SMPP_PORT: '0' });
    expect(await gone(gateway)).toBe(1);
    const output = gateway.output.join('');
    expect(output).toContain('COUNTERSIGN_MASTER_KEY');
    expect(output).toContain('GATEWAY_SMPP_PORT');
    expect(output).not.toContain('too-short');
  });
});
