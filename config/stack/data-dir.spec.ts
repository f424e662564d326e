import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDataDir, mayEnd, openDataDir } from './data-dir.mjs';

const PROGRAM = fileURLToPath(new URL('../..', import.meta.url));
const ACCOUNT = 40_001;
const STRANGER = 40_002;
const own = process.getuid?.() ?? 0;
const isRoot = own === 0;

let folder: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-data-dir-'));
  dataDir = path.join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (target = dataDir): ReturnType<typeof openDataDir> =>
  openDataDir(target, { uid: own, accountUid: isRoot ? ACCOUNT : undefined, program: PROGRAM });
const write = (name: string, text = ''): string => {
  const file = path.join(dataDir, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

describe('a data directory', () => {
  it('is made with the folders above it, for its owner to write to, and opened again', () => {
    const deep = path.join(dataDir, 'a/b');
    expect(open(deep)).toMatchObject({ owner: own });
    expect(lstatSync(deep).mode & 0o777).toBe(0o700);
    expect(lstatSync(path.dirname(deep)).mode & 0o022).toBe(0);
    expect(open(deep)).toMatchObject({ owner: own });
  });

  it('is not a link, not even one to nowhere', () => {
    const real = path.join(folder, 'real');
    symlinkSync(real, dataDir);
    expect(open).toThrow(/is a symbolic link/);
    expect(existsSync(real)).toBe(false);
    mkdirSync(real);
    expect(open).toThrow(/is a symbolic link/);
  });

  it.each([0o777, 0o1777, 0o757])('with the mode %o is refused: others may have written to it', (mode) => {
    mkdirSync(dataDir);
    chmodSync(dataDir, mode);
    expect(open).toThrow(/other accounts may write to .+data: .+ run "chmod go-w/);
  });

  it('is refused where others may write to a folder above it', () => {
    const above = path.join(folder, 'above');
    mkdirSync(above);
    chmodSync(above, 0o777);
    expect(() => open(path.join(above, 'a/data'))).toThrow(/other accounts may write to .+above, on the way to/);
    expect(existsSync(path.join(above, 'a'))).toBe(false);
    symlinkSync(above, path.join(folder, 'link'));
    expect(() => open(path.join(folder, 'link/data'))).toThrow(/other accounts may write to .+above, on the way to/);
    chmodSync(above, 0o1777);
    expect(open(path.join(above, 'a/data'))).toMatchObject({ owner: own });
  });

  it('below the program is checked alone: an account that may write above it may replace the program anyway', () => {
    const program = path.join(folder, 'program');
    mkdirSync(program);
    chmodSync(folder, 0o777);
    const accounts = { uid: own, accountUid: undefined, program };
    expect(openDataDir(path.join(program, '.data'), accounts)).toMatchObject({ owner: own });
    expect(openDataDir(path.join(program, '.data'), { ...accounts, program: `${program}/` })).toMatchObject({
      owner: own,
    });
    expect(() => openDataDir(path.join(folder, 'b/.data'), { ...accounts, program: PROGRAM })).toThrow(/may write to/);
  });

  it('is empty until a run has written to it, and has no control character in its name', () => {
    expect(open()).toMatchObject({ isEmpty: true });
    write('notes.txt');
    expect(open()).toMatchObject({ isEmpty: true });
    write('secrets.json');
    expect(open()).toMatchObject({ isEmpty: false });
    expect(() => open(path.join(folder, 'a\u001b[2Jb'))).toThrow(/control character/);
  });

  it.each(['data', '.'])('is another one when %s was replaced after it was opened', (name) => {
    const place = path.join(folder, 'above', name);
    const { recheck } = open(path.join(folder, 'above/data'));
    expect(recheck).not.toThrow();
    renameSync(place, path.join(folder, 'moved'));
    expect(recheck).toThrow(/cannot look at|was replaced during the start/);
    mkdirSync(path.join(folder, 'above/data'), { recursive: true });
    expect(recheck).toThrow(/was replaced during the start/);
  });

  it('where there are no user ids is only made', () => {
    expect(openDataDir(dataDir, { uid: undefined, accountUid: undefined, program: PROGRAM })).toMatchObject({
      owner: undefined,
    });
    expect(lstatSync(dataDir).isDirectory()).toBe(true);
  });
});

describe.skipIf(!isRoot)('as root, a data directory', () => {
  it('of another user is refused, and of the account taken unread', () => {
    mkdirSync(dataDir);
    chownSync(dataDir, STRANGER, STRANGER);
    expect(open).toThrow(/data belongs to another user \(uid 40002\)/);
    chownSync(dataDir, ACCOUNT, ACCOUNT);
    symlinkSync('/etc', path.join(dataDir, 'redis'));
    expect(open()).toMatchObject({ owner: ACCOUNT });
  });

  it.each([STRANGER, ACCOUNT])('of root below a folder of the user %d is refused', (uid) => {
    chownSync(folder, uid, uid);
    expect(open).toThrow(new RegExp(`belongs to another user \\(uid ${uid}\\)`));
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each(['folder', 'link'])('is not made below a %s that another account has put there meanwhile', (kind) => {
    const target = path.join(folder, 'target');
    mkdirSync(target);
    const planted = path.join(folder, 'planted');
    if (kind === 'link') symlinkSync(target, planted);
    else mkdirSync(planted);
    lchownSync(planted, STRANGER, STRANGER);
    const accounts = { uid: own, accountUid: ACCOUNT, program: PROGRAM };
    expect(() => createDataDir(path.join(planted, 'data'), accounts)).toThrow(/planted, on the way .+ \(uid 40002\)/);
    expect([...readdirSync(planted), ...readdirSync(target)]).toEqual([]);
  });

  it('of the account may be in a folder of the account', () => {
    mkdirSync(dataDir);
    for (const each of [folder, dataDir]) chownSync(each, ACCOUNT, ACCOUNT);
    expect(open()).toMatchObject({ owner: ACCOUNT });
  });

  it.each(['secrets.json', 'redis/password', 'logs/gateway.log', 'postgres-18'])(
    'of root in which %s belongs to another user is refused',
    (name) => {
      chownSync(write(name), STRANGER, STRANGER);
      expect(open).toThrow(new RegExp(`${name} belongs to another user`));
    },
  );

  it.each(['postgres-18', 'redis', 'logs', 'processes.json'])('of root in which %s is a link is refused', (name) => {
    mkdirSync(dataDir);
    symlinkSync(folder, path.join(dataDir, name));
    expect(open).toThrow(new RegExp(`${name} is neither a file nor a folder`));
  });

  it.each(['secrets.json', 'redis/password'])('of root in which %s has a second name is refused', (name) => {
    linkSync(write(name), path.join(folder, 'other'));
    expect(open).toThrow(new RegExp(`${name} has a second name elsewhere`));
  });

  it('of root may hold files of the account, and other things of anyone', () => {
    chownSync(write('secrets.json'), ACCOUNT, ACCOUNT);
    chownSync(write('notes.txt'), STRANGER, STRANGER);
    expect(open()).toMatchObject({ owner: 0 });
  });
});

describe('a group that may write', () => {
  const idOf = (args: readonly string[]): number => Number(spawnSync('id', args, { encoding: 'utf8' }).stdout);

  it.skipIf(!isRoot)('is accepted when its owner is its only member', () => {
    const postgres = idOf(['-u', 'postgres']);
    mkdirSync(dataDir);
    chownSync(dataDir, 0, 65_534);
    chmodSync(dataDir, 0o775);
    expect(open).toThrow(/other accounts may write to/);
    chownSync(dataDir, 0, 0);
    expect(open()).toMatchObject({ owner: 0 });
    if (!(postgres > 0)) return;
    chownSync(dataDir, postgres, idOf(['-g', 'postgres']));
    expect(openDataDir(dataDir, { uid: 0, accountUid: postgres, program: PROGRAM })).toMatchObject({ owner: postgres });
  });
});

describe('a process that a file names', () => {
  const sleeper = async (uid: number): Promise<{ readonly pid: number; readonly end: () => void }> => {
    const child = spawn('sleep', ['600'], isRoot ? { uid, gid: uid } : {});
    await once(child, 'spawn');
    return { pid: child.pid ?? 0, end: () => void child.kill('SIGKILL') };
  };

  it('may be ended when it belongs to the writer of the file', async () => {
    const { pid, end } = await sleeper(own);
    expect(mayEnd(pid, [write('processes.json')])).toBe(true);
    end();
  });

  it.skipIf(!isRoot)('may not when the file, or a folder on its way, is of another account', async () => {
    const file = write('redis/process.json');
    const places = [dataDir, path.join(dataDir, 'redis'), file];
    const [ofRoot, ofAccount] = [await sleeper(0), await sleeper(ACCOUNT)];
    expect([mayEnd(ofRoot.pid, places), mayEnd(ofAccount.pid, places)]).toEqual([true, true]);
    for (const each of places) {
      chownSync(each, ACCOUNT, ACCOUNT);
      expect([mayEnd(ofRoot.pid, places), mayEnd(ofAccount.pid, places)]).toEqual([false, true]);
      chownSync(each, STRANGER, STRANGER);
      expect([mayEnd(ofRoot.pid, places), mayEnd(ofAccount.pid, places)]).toEqual([false, false]);
      chownSync(each, 0, 0);
    }
    for (const { end } of [ofRoot, ofAccount]) end();
  });
});
