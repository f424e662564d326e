// `npm start` as root: every process of the run, the launcher included, switches to an unprivileged account.
import { closeSync, constants, fchownSync, fstatSync, lstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { scriptOf } from './apps.mjs';
import { checkEntry, foreignEntry, ownEntries, strangeEntry } from './data-dir.mjs';
import { canReach, findBinaries, passes, serverAccount } from './postgres-binaries.mjs';
import { ROOT } from './prepare.mjs';
import { StartError } from './progress.mjs';

const KNOWN_NAMES = pathToFileURL(path.join(ROOT, 'dist/libs/settings/src/known-names.js')).href;

/**
 * Changes the owner of the data directory to the account that PostgreSQL runs under and switches this process to that
 * account. Does nothing unless this process is root's. If the account cannot reach the program or the data directory,
 * the run stays root's and logs that, provided that the directory and its files belong to root; otherwise the run ends.
 *
 * @param {{ dataDir: string, owner: number, recheck: () => void, env: Record<string, string | undefined>,
 *   log: (message: string) => void }} options owner and recheck: of the data directory, as openDataDir found it
 * @returns {boolean} whether this process has another account now
 */
export function becomeUnprivileged({ dataDir, owner, recheck, env, log }) {
  // The installation and the build may have taken minutes.
  recheck();
  if (process.getuid?.() !== 0) return false;
  const account = serverAccount();
  const { name, uid, gid } = account;
  const obstacle = obstacleOf(account, dataDir, owner);
  if (obstacle !== undefined) {
    const foreign = owner === 0 ? foreignEntry(dataDir) : dataDir;
    if (foreign !== undefined) {
      throw new StartError(`${obstacle}. It does not run as root instead: ${foreign} belongs to another account`);
    }
    log(`everything but PostgreSQL runs as root: ${obstacle}`);
    return false;
  }
  // Creates the links between PostgreSQL's libraries in node_modules while this process may still write there.
  if (!env.DATABASE_URL) findBinaries(account);
  if (owner === 0) {
    for (const entry of ownEntries(dataDir)) handOver(path.join(dataDir, entry), account);
    recheck();
    changeOwner(dataDir, lstatSync(dataDir), account);
  }
  try {
    process.setgroups([gid]);
    process.setgid(gid);
    process.setuid(uid);
  } catch (error) {
    throw new StartError(`root cannot become the account ${name} here (${error.code}): run as an ordinary user`);
  }
  log(`started as root: runs as ${name} (uid ${uid}), and so do PostgreSQL, Redis and the apps; ${dataDir} is theirs`);
  return true;
}

/** Variables that programs read besides the settings. */
const COMMON_VARIABLES = /^(PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|NODE_\w+)$/;

/**
 * The variables that the apps need: the account may read the environment of its processes, and root's may hold other secrets.
 *
 * @param {Record<string, string | undefined>} env
 */
export async function withoutForeignVariables(env) {
  const { knownNames } = await import(KNOWN_NAMES);
  const known = knownNames();
  return Object.fromEntries(Object.entries(env).filter(([name]) => known.has(name) || COMMON_VARIABLES.test(name)));
}

/** Why the account cannot run the program on this data directory, and the remedy; undefined if it can. */
function obstacleOf(account, dataDir, owner) {
  const { name } = account;
  const needed = [process.execPath, path.join(ROOT, 'package.json'), path.join(ROOT, 'node_modules/pg/package.json')];
  const closed = [...needed, scriptOf('gateway')].find((file) => !passes(account, '-r', file));
  if (closed !== undefined) {
    return `the account ${name} may not read ${closed}. Put Node and this folder where every account may read them, or run as an ordinary user`;
  }
  if (!passes(account, '-w', os.tmpdir())) {
    return `the account ${name} may not write to ${os.tmpdir()}. Set TMPDIR to a folder that every account may write to`;
  }
  const parent = path.dirname(dataDir);
  if (!canReach(account, parent)) {
    return `the account ${name} may not enter ${parent}. Set COUNTERSIGN_DATA_DIR to a folder that every account may enter, or run as an ordinary user`;
  }
  const strange = owner === 0 ? strangeEntry(dataDir) : undefined;
  if (strange !== undefined) {
    return `${dataDir} also holds ${strange}, so it is not given to the account ${name}. Set COUNTERSIGN_DATA_DIR to a folder of its own`;
  }
  return undefined;
}

/**
 * Enters only folders that belong to root: the account could exchange entries of its own folders for links during the
 * hand-over. Links, and files with several names, end the run. A folder changes its owner after its entries, so that an
 * interrupted hand-over continues at the next run.
 */
function handOver(file, account) {
  const found = lstatSync(file);
  if (found.uid === account.uid) return;
  if (found.uid !== 0)
    throw new StartError(`${file} belongs to another user (uid ${found.uid}): look at it and remove it`);
  checkEntry(file, found);
  // Its server has ended; a new one makes its own.
  if (found.isSocket()) return rmSync(file);
  if (found.isDirectory()) for (const entry of readdirSync(file)) handOver(path.join(file, entry), account);
  changeOwner(file, found, account);
}

/** Through a descriptor, of the file that was looked at: the name may lead to another one by now. */
function changeOwner(file, found, { uid, gid }) {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const opened = fstatSync(handle);
    if (opened.dev !== found.dev || opened.ino !== found.ino || opened.uid !== 0) {
      throw new StartError(`${file} was replaced during the start: find out by whom, and start again`);
    }
    checkEntry(file, opened);
    fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
}
