// `npm start` as root: every process of the run, the launcher included, becomes an unprivileged account.
import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { scriptOf } from './apps.mjs';
import { checkEntry, foreignEntry, ownEntries, strangeEntry } from './data-dir.mjs';
import { canReach, findBinaries, passes, serverAccount } from './postgres-binaries.mjs';
import { ROOT } from './prepare.mjs';
import { StartError } from './progress.mjs';

/**
 * Gives the data directory to the account that PostgreSQL runs under, and becomes that account. Does nothing unless this
 * is root. Where the account cannot reach the program or the data directory, the run stays root's and says so, as long as
 * the directory and the files in it are root's; else it ends.
 *
 * @param {{ dataDir: string, owner: number, env: Record<string, string | undefined>, log: (message: string) => void }} options
 *   owner: of the data directory, as openDataDir found it
 */
export function becomeUnprivileged({ dataDir, owner, env, log }) {
  if (process.getuid?.() !== 0) return;
  const account = serverAccount();
  const { name, uid, gid } = account;
  const obstacle = obstacleOf(account, dataDir, owner);
  if (obstacle !== undefined) {
    const foreign = owner === 0 ? foreignEntry(dataDir) : dataDir;
    if (foreign !== undefined) {
      throw new StartError(`${obstacle}. It does not run as root instead: ${foreign} belongs to another account`);
    }
    log(`everything but PostgreSQL runs as root: ${obstacle}`);
    return;
  }
  // The links between its libraries may still have to be made in node_modules.
  if (!env.DATABASE_URL) findBinaries(account);
  if (owner === 0) {
    for (const entry of ownEntries(dataDir)) handOver(path.join(dataDir, entry), account);
    lchownSync(dataDir, uid, gid);
  }
  try {
    process.setgroups([gid]);
    process.setgid(gid);
    process.setuid(uid);
  } catch (error) {
    throw new StartError(`root cannot become the account ${name} here (${error.code}): run as an ordinary user`);
  }
  log(`started as root: runs as ${name} (uid ${uid}), and so do PostgreSQL, Redis and the apps; ${dataDir} is theirs`);
}

/** Why the account cannot run the program on these data, with what to do about it; undefined when it can. */
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
 * Root's folders are entered, no others: what is in a folder of the account is the account's, and could be exchanged for
 * a link while this looks. Links, and files with a second name, end the run. A folder changes hands after what is in it, so
 * that a hand-over that was cut short goes on the next time.
 */
function handOver(file, account) {
  const found = lstatSync(file);
  if (found.uid === account.uid) return;
  if (found.uid !== 0)
    throw new StartError(`${file} belongs to another user (uid ${found.uid}): look at it and remove it`);
  checkEntry(file, found);
  if (found.isDirectory()) for (const entry of readdirSync(file)) handOver(path.join(file, entry), account);
  lchownSync(file, account.uid, account.gid);
}
