import { spawnSync } from 'node:child_process';
import { chownSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePorts, Launcher, type Ports, type Quickstart, runningOf, temporaryFolder } from '../support/stack.js';

const READY_MS = 100_000;
const SESSION = { phone: '+14155552671', clientChallenge: 'a'.repeat(64) };

/** Real, effective, saved and file system uid, and the same of the group (proc(5)). */
function idsOf(pid: number): { readonly uids: string; readonly gids: string; readonly groups: string } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*?)\\s*$`, 'm').exec(status)?.[1] ?? '';
  return { uids: field('Uid'), gids: field('Gid'), groups: field('Groups') };
}

/** Null of a process that has ended, as short-lived ones of PostgreSQL do. */
function idsOfLiving(pid: number): ReturnType<typeof idsOf> | null {
  try {
    return idsOf(pid);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Descendants belong to the run as well, and are found without their environment. */
function descendantsOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  const pids = stdout
    .split('\n')
    .map(Number)
    .filter((child) => child > 0);
  return [...pids, ...pids.flatMap(descendantsOf)];
}

describe.skipIf(process.getuid?.() !== 0)('npm start as root', () => {
  const data = temporaryFolder();
  let ports: Ports;
  let first: Quickstart;

  const environment = { REDIS_URL: '', OTHER_SECRET: 'a secret of root', LOG_LEVEL: 'debug' };
  const start = (dataDir = data.folder): Launcher => Launcher.start({ dataDir, ports, environment });
  const ownerOf = (name: string): number => lstatSync(path.join(data.folder, name)).uid;

  beforeAll(async () => {
    ports = await freePorts();
  });
  afterAll(() => data.remove());

  it('becomes one unprivileged account with all that it starts, and says which', async () => {
    const stack = await start().ready(READY_MS);
    first = stack.quickstart;
    try {
      const [, name = '', uid = ''] = /started as root: runs as (\w+) \(uid (\d+)\)/.exec(stack.launcher.output) ?? [];
      expect(['postgres', 'nobody']).toContain(name);
      const running = runningOf(data.folder);
      const commands = running.map(({ command }) => command).join('\n');
      for (const part of ['start.mjs', 'control-plane', 'gateway', 'simulator', 'bin/postgres']) {
        expect(commands).toContain(part);
      }
      const pids = new Set(running.flatMap(({ pid }) => [pid, ...descendantsOf(pid)]));
      // PostgreSQL's processes are included.
      expect(pids.size).toBeGreaterThan(running.length);
      const living = [...pids].map(idsOfLiving).filter((ids) => ids !== null);
      expect(living.length).toBeGreaterThan(running.length);
      for (const { uids, gids, groups } of living) {
        expect(new Set(uids.split(/\s+/))).toEqual(new Set([uid]));
        const gid = gids.split(/\s+/)[0] ?? '';
        expect(gid).not.toBe('0');
        expect(groups).toBe(gid);
      }
      // The kernel closes the environment of the launcher itself, which has changed its account, to that account.
      const apps = running.filter(({ command }) => !command.includes('start.mjs'));
      for (const { pid, command } of apps) {
        const given = readFileSync(`/proc/${pid}/environ`, 'utf8');
        expect(given, command).not.toContain('a secret of root');
        if (command.includes('dist/apps')) expect(given, command).toContain('LOG_LEVEL=debug');
      }
      const launcher = running.find(({ command }) => command.includes('start.mjs'));
      expect(lstatSync(`/proc/${launcher?.pid}/environ`).uid).toBe(0);
      expect((await stack.api('POST', '/v1/verify', { ...SESSION, ...idsFor(first) })).status).toBe(200);
    } finally {
      await stack.stop();
    }
  });

  it('goes on with what root made there before', async () => {
    // The state of earlier releases: everything but PostgreSQL's own folder belonged to root.
    const theirs = readdirSync(data.folder).filter((name) => !/^postgres-\d+$/.test(name));
    for (const name of theirs) giveToRoot(path.join(data.folder, name));
    giveToRoot(data.folder, false);
    expect(ownerOf('secrets.json')).toBe(0);
    const stack = await start().ready(READY_MS);
    await stack.stop();
    // The link of the console is for one use: each start has another.
    expect(stack.quickstart).toEqual({ ...first, consoleUrl: stack.quickstart.consoleUrl });
    for (const name of ['secrets.json', 'logs', 'ca.key', 'postgres.log']) expect(ownerOf(name)).not.toBe(0);
  });

  it('gives away no folder that holds other things, and says why it stays root', async () => {
    const other = temporaryFolder();
    const notes = path.join(other.folder, 'notes.txt');
    writeFileSync(notes, 'mine');
    const stack = await start(other.folder).ready(READY_MS);
    await stack.stop();
    expect(stack.launcher.output).toMatch(
      /everything but PostgreSQL runs as root: .+ also holds notes.txt.+Set COUNTERSIGN_DATA_DIR/,
    );
    expect([lstatSync(notes).uid, lstatSync(other.folder).uid]).toEqual([0, 0]);
    other.remove();
  });
});

const idsFor = ({ accountId, brandId }: Quickstart) => ({ accountId, brandId });

function giveToRoot(file: string, recursive = true): void {
  const isFolder = lstatSync(file).isDirectory();
  if (isFolder && recursive) for (const entry of readdirSync(file)) giveToRoot(path.join(file, entry));
  chownSync(file, 0, 0);
}
