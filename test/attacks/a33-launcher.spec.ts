import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { identify, stillRuns } from '../../config/stack/processes.mjs';
import { serverAccount } from '../../config/stack/postgres-binaries.mjs';
import { startPostgres } from '../../config/stack/postgres.mjs';
import { findRedis, startRedis } from '../../config/stack/redis.mjs';
import { freePorts, Launcher, type Ports, ROOT, temporaryFolder } from '../support/stack.js';

const STRANGER = 40_002;
/** A run may install and build first. */
const LONG_MS = 300_000;
/** Makes a run fail when it reaches its stores. */
const NO_DATABASE = { DATABASE_URL: 'postgres://127.0.0.1:1/none', REDIS_URL: '' };
const isRoot = process.getuid?.() === 0;

const home = temporaryFolder();
let ports: Ports;
let dataDir: string;
let children: ChildProcess[] = [];

beforeAll(async () => {
  ports = await freePorts();
});
beforeEach(() => {
  dataDir = path.join(home.folder, 'data');
  mkdirSync(path.join(dataDir, 'redis'), { recursive: true });
  // The account of the run must be able to pass through the folder.
  chmodSync(home.folder, 0o755);
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(dataDir, { recursive: true, force: true });
});
afterAll(() => home.remove());

const plant = (name: string, text: string): string => {
  const file = path.join(dataDir, name);
  writeFileSync(file, text);
  return file;
};

/** The error output of a run that fails. */
async function refusal(environment: Record<string, string> = NO_DATABASE): Promise<string> {
  const launcher = Launcher.start({ dataDir, ports, environment });
  expect(await launcher.ended, launcher.output).toBe(1);
  return launcher.output;
}

/** A process of root with these words in its command line, for a file to name. */
async function victim(words: string): Promise<{ pid: number; mark: string }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', words], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return identify(child.pid ?? 0);
}

function borrowedAccount(): { readonly uid: number; readonly gid: number } {
  const { uid = 0, gid = 0 } = serverAccount();
  return { uid, gid };
}

function giveTo({ uid, gid }: { readonly uid: number; readonly gid: number }, folder = dataDir): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    chownSync(path.join(folder, entry), uid, gid);
  }
  chownSync(folder, uid, gid);
}

describe('A33 npm start in a directory that others control', () => {
  it('A33 a directory that every account may write to is refused before anything in it is read or written', async () => {
    plant('secrets.json', '{}');
    chmodSync(dataDir, 0o777);
    expect(await refusal()).toMatch(/other accounts may write to .+data/);
    expect(readdirSync(dataDir).sort()).toEqual(['redis', 'secrets.json']);
  });

  it('A33 a link in the place of the directory is refused, and its target stays unchanged', async () => {
    const real = path.join(home.folder, 'real');
    mkdirSync(real);
    rmSync(dataDir, { recursive: true });
    symlinkSync(real, dataDir);
    expect(await refusal()).toMatch(/is a symbolic link/);
    expect(readdirSync(real)).toEqual([]);
  });

  it.skipIf(findRedis() === undefined)('A33 a planted Redis password adds no directive (needs Redis)', async () => {
    plant('redis/password', 'x\nloadmodule /tmp/module.so');
    await expect(startRedis({ dataDir, log: () => undefined })).rejects.toThrow(/password is damaged/);
    expect(existsSync(path.join(dataDir, 'redis/redis.conf'))).toBe(false);
  });
});

describe('A33 npm start prints nothing that a terminal executes', () => {
  const ESCAPE = '\u001b]0;owned\u0007\u001b[2J\u009b2J';
  const SHOWN = '\\u001b]0;owned\\u0007\\u001b[2J\\u009b2J';

  it.each([
    ['a variable', { NODE_ENV: ESCAPE }],
    ['a port', { CONTROL_PLANE_PORT: ESCAPE }],
    ['the name of the directory', { COUNTERSIGN_DATA_DIR: `/tmp/${ESCAPE}` }],
  ])('A33 controls in %s are shown escaped', async (_where, environment) => {
    const output = await refusal({ ...NO_DATABASE, ...environment });
    expect(output).toContain(SHOWN);
    expect(output).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  it('A33 controls in the output of a program that it runs are shown escaped', () => {
    const program = `import { runCommand } from './config/stack/processes.mjs';
      const text = ${JSON.stringify(`one ${ESCAPE}\nlast`)};
      process.exitCode = await runCommand(process.execPath, ['-e', \`
        process.stdout.write(\${JSON.stringify(text)}); process.exitCode = 3;\`]);`;
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: ROOT, encoding: 'utf8' });
    expect(ran.stderr).toBe(`one ${SHOWN}\nlast\n`);
    expect(ran.status).toBe(3);
  });
});

describe.skipIf(findRedis() === undefined)('A33 the private Redis of npm start', () => {
  it('A33 a server that took its port first is sent nothing', async () => {
    const received: string[] = [];
    let connections = 0;
    const other = net.createServer((socket) => {
      connections++;
      socket.on('data', (data) => received.push(String(data)));
      socket.on('error', () => undefined);
    });
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as net.AddressInfo;
    try {
      const starting = startRedis({ dataDir, log: () => undefined, port });
      await expect(starting).rejects.toThrow(`another program took port ${port} of 127.0.0.1 first`);
      expect({ connections, received }).toEqual({ connections: 0, received: [] });
    } finally {
      other.close();
    }
  });
});

describe.skipIf(!isRoot)('A33 npm start as root, in a directory that another account has prepared', () => {
  it('A33 a directory of another user is refused, not used by root', async () => {
    plant('redis/password', 'x\nloadmodule /tmp/module.so');
    giveTo({ uid: STRANGER, gid: STRANGER });
    const output = await refusal();
    expect(output).toMatch(/data belongs to another user \(uid 40002\): run as that user/);
    expect(output).not.toContain('runs as root');
    expect(readdirSync(dataDir)).toEqual(['redis']);
  });

  it('A33 the target of a link or of a second name does not change its owner', async () => {
    const target = path.join(home.folder, 'target');
    mkdirSync(target, { recursive: true });
    const file = path.join(target, 'shadow');
    writeFileSync(file, 'secret');
    symlinkSync(target, path.join(dataDir, 'postgres-18'));
    expect(await refusal()).toMatch(/postgres-18 is neither a file nor a folder/);
    rmSync(path.join(dataDir, 'postgres-18'));
    linkSync(file, path.join(dataDir, 'secrets.json'));
    expect(await refusal()).toMatch(/secrets.json has a second name/);
    expect([lstatSync(target).uid, lstatSync(file).uid]).toEqual([0, 0]);
  });

  it(
    'A33 files of the account that root becomes make root end no process',
    async () => {
      const [redis, app] = [
        await victim('redis-server'),
        await victim(path.join(ROOT, 'dist/apps/gateway/src/main.js')),
      ];
      plant('redis/process.json', JSON.stringify(redis));
      plant('processes.json', JSON.stringify([{ name: 'gateway', ...app }]));
      giveTo(borrowedAccount());
      const output = await refusal();
      expect(output).toMatch(/started as root: runs as \w+/);
      expect(output).toMatch(/DATABASE_URL: nothing answers/);
      expect([stillRuns(redis), stillRuns(app)]).toEqual([true, true]);
    },
    LONG_MS,
  );

  it(
    'A33 an account that has used up its processes does not make the run stay root',
    () => {
      const environment = { ...process.env, ...NO_DATABASE, COUNTERSIGN_DATA_DIR: dataDir, VITEST: '', NODE_ENV: '' };
      const texts = Object.entries(ports).map(([name, port]) => [name, String(port)]);
      const command = ['--nproc=0:0', process.execPath, 'config/stack/start.mjs'];
      const { status, stderr } = spawnSync('prlimit', command, {
        cwd: ROOT,
        env: { ...environment, ...(Object.fromEntries(texts) as Record<string, string>) },
        encoding: 'utf8',
      });
      expect(stderr).toMatch(/nothing can be run as the account \w+ \(EAGAIN\)/);
      expect(stderr).not.toContain('runs as root');
      expect(status).toBe(1);
    },
    LONG_MS,
  );

  it('A33 a private PostgreSQL outside a closed folder is in a folder of root, and one that others made is not used', async () => {
    chmodSync(home.folder, 0o700);
    const note = (): string => readFileSync(path.join(dataDir, notes()[0] ?? ''), 'utf8');
    const notes = (): string[] => readdirSync(dataDir).filter((name) => name.endsWith('.path'));
    const first = await startPostgres({ dataDir, log: () => undefined });
    await first.stop();
    const made = note();
    const [closed, theirs] = [path.dirname(made), path.join(home.folder, 'theirs')];
    try {
      expect(lstatSync(made).uid).toBe(borrowedAccount().uid);
      expect(lstatSync(closed)).toMatchObject({ uid: 0, mode: 0o040711 });
      expect(readdirSync(closed)).toEqual([path.basename(made)]);
      rmSync(made, { recursive: true });
      mkdirSync(theirs);
      symlinkSync(theirs, made);
      const second = await startPostgres({ dataDir, log: () => undefined });
      await second.stop();
      expect(note()).not.toBe(made);
      expect(readdirSync(theirs)).toEqual([]);
    } finally {
      rmSync(closed, { recursive: true, force: true });
      rmSync(path.dirname(note()), { recursive: true, force: true });
    }
  }, 60_000);

  it('A33 the account of the run is not the superuser of a PostgreSQL of this computer', () => {
    const isThere = ['/var/lib/postgresql', '/etc/postgresql', '/var/lib/pgsql'].some((folder) => existsSync(folder));
    if (isThere) expect(serverAccount().name).toBe('nobody');
    expect(['postgres', 'nobody']).toContain(serverAccount().name);
  });
});
