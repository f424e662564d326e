// Checks of the data directory of a run: its owner, and which other accounts could have written to it.
import { accessSync, constants, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { StartError } from './progress.mjs';
import { ownerOf } from './processes.mjs';

const ROOT_UID = 0;
/** Of a new data directory; the account that root becomes must be able to pass the folders above it. */
const NEW_DATA_DIR_MODE = 0o700;
const NEW_PARENT_MODE = 0o755;
const OTHERS_MAY_WRITE = 0o002;
const GROUP_MAY_WRITE = 0o020;
const STICKY = 0o1000;
/** As in Linux: a path with more links is a loop. */
const MAX_LINKS = 40;

/** The names that a run gives to its files. Files with other names are neither handed over nor checked. */
const OWN_NAMES =
  /^(lock|quickstart|secrets|processes|ca|server|rbm-service-account|postgres|logs$|redis$|compiled$)([-.].*)?$/;
/** The server's own folder belongs to the account that runs it. */
const SERVER_FOLDER = /^postgres-\d+(\.new)?$/;
/** Folders whose files are read back by later runs. */
const READ_FOLDERS = ['redis', 'logs'];

const ELSEWHERE = 'or set COUNTERSIGN_DATA_DIR to a folder of your own';

/**
 * @typedef {object} Accounts
 * @property {number | undefined} uid of this process; nothing is checked where the system has no user ids
 * @property {number | undefined} accountUid the account that root becomes
 * @property {string} program the folder of the program. An account that may change it, or rename a folder above it,
 * controls this run anyway
 */

/**
 * Creates the data directory unless it exists. Throws a StartError if the directory, a folder above it or a file in it
 * is, or may be, controlled by an account other than root, the account of this process, and the account that root
 * switches to. Opens nothing in the directory before these checks. POSIX ACLs are checked as far as the mode shows
 * them.
 *
 * @param {string} dataDir absolute
 * @param {Accounts} accounts
 * @returns {{ owner: number | undefined, isEmpty: boolean, recheck: () => void }} owner: its user id; isEmpty: without
 *   files of a run; recheck: throws a StartError if the directory or a place on the way to it is another one by then
 */
export function openDataDir(dataDir, accounts) {
  if (/\p{Cc}/u.test(dataDir)) throw new StartError(`COUNTERSIGN_DATA_DIR has a control character: ${dataDir}`);
  const before = lstatOrNot(dataDir);
  checkParents(dataDir, accounts, before);
  refuseLink(dataDir, before);
  createDataDir(dataDir, accounts);
  if (accounts.uid === undefined) return { owner: undefined, isEmpty: isEmpty(dataDir), recheck: () => {} };
  const places = identitiesOn(dataDir);
  const found = lstatSync(dataDir);
  // Somebody may have created the directory, or a folder above it, since the first check.
  checkParents(dataDir, accounts, found);
  refuseLink(dataDir, found);
  if (!ownersOf(accounts).includes(found.uid)) {
    throw new StartError(`${dataDir} belongs to another user (uid ${found.uid}): run as that user, ${ELSEWHERE}`);
  }
  if (mayBeWrittenByOthers(found)) {
    throw new StartError(
      `other accounts may write to ${dataDir}: look at what is in it and run "chmod go-w ${dataDir}", ${ELSEWHERE}`,
    );
  }
  // Root reads nothing in a directory of the account: it switches to the account first.
  if (found.uid === accounts.uid || found.uid === ROOT_UID) checkContents(dataDir, accounts);
  const recheck = () => checkIdentities(dataDir, places);
  recheck();
  return { owner: found.uid, isEmpty: isEmpty(dataDir), recheck };
}

function refuseLink(dataDir, found) {
  if (!found?.isSymbolicLink()) return;
  throw new StartError(`${dataDir} is a symbolic link: set COUNTERSIGN_DATA_DIR to the folder that it leads to`);
}

/**
 * Creates the data directory and the folders above it that are missing, one by one. Before each, all that is above it
 * is checked: in a folder such as /tmp another account may have created the one before. `mkdir` follows no link in the
 * place of the folder that it creates.
 *
 * @param {string} dataDir absolute
 * @param {Accounts} accounts
 */
export function createDataDir(dataDir, accounts) {
  try {
    for (const folder of foldersOn(dataDir).reverse()) {
      if (lstatOrNot(folder) !== undefined) continue;
      checkParents(folder, accounts, undefined);
      makeFolder(folder, folder === dataDir ? NEW_DATA_DIR_MODE : NEW_PARENT_MODE);
    }
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `cannot write to ${dataDir} (${error.code}): set COUNTERSIGN_DATA_DIR to a folder of your own`,
    );
  }
}

/** One that exists by now is checked like those that existed before. */
function makeFolder(folder, mode) {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

const isEmpty = (dataDir) => ownEntries(dataDir).length === 0;

/** Device and inode of the data directory and of every place on the way to it. */
const identitiesOn = (dataDir) =>
  placesOn(dataDir).map((place) => {
    const found = lstatSync(place, { bigint: true, throwIfNoEntry: false });
    return { place, identity: `${found?.dev}/${found?.ino}` };
  });

function checkIdentities(dataDir, places) {
  const now = identitiesOn(dataDir);
  const replaced = places.find(({ place, identity }, at) => {
    return now[at]?.place !== place || now[at].identity !== identity;
  });
  if (replaced === undefined && now.length === places.length) return;
  throw new StartError(
    `${replaced?.place ?? dataDir} was replaced during the start: find out by whom, and start again`,
  );
}

/** Permitted owners of a data directory and its files. */
const ownersOf = ({ uid, accountUid }) => [ROOT_UID, uid, accountUid].filter((each) => each !== undefined);

/** An account that owns or may write to a folder above could replace the data directory with another one. */
function checkParents(dataDir, { uid, accountUid, program }, found) {
  if (uid === undefined) return;
  const programFolders = foldersOn(program);
  const trusted = [ROOT_UID, uid, lstatSync(program).uid];
  // Root does nothing in a directory of the account except switch to the account.
  if (accountUid !== undefined && found?.uid === accountUid) trusted.push(accountUid);
  for (const folder of placesOn(path.dirname(dataDir))) {
    if (programFolders.includes(folder)) continue;
    const { owner, isOpen } = placeOf(folder);
    if (!trusted.includes(owner)) {
      throw new StartError(
        `${folder}, on the way to ${dataDir}, belongs to another user (uid ${owner}): set COUNTERSIGN_DATA_DIR to a folder of your own`,
      );
    }
    if (isOpen) {
      throw new StartError(
        `other accounts may write to ${folder}, on the way to ${dataDir}: run "chmod go-w ${folder}", ${ELSEWHERE}`,
      );
    }
  }
}

/** Neither a link nor a device has entries. In a sticky folder only the owner of an entry may replace it. */
function placeOf(file) {
  const found = lstatSync(file);
  const isOpen = found.isDirectory() && (found.mode & STICKY) === 0 && mayBeWrittenByOthers(found);
  return { owner: found.uid, isOpen };
}

/** A folder and all above it, as the path spells them. */
function foldersOn(folder) {
  const above = path.dirname(folder);
  const own = folder.endsWith(path.sep) && above !== folder ? folder.slice(0, -1) : folder;
  return above === folder ? [own] : [own, ...foldersOn(above)];
}

/** Folders and links that the system passes on its way to a folder, as far as they exist. */
function placesOn(folder) {
  const { root } = path.parse(folder);
  const places = [root];
  const names = folder.slice(root.length).split(path.sep);
  let current = root;
  for (let links = 0; names.length > 0;) {
    const name = names.shift();
    const next = path.resolve(current, name);
    const found = lstatOrNot(next);
    if (found === undefined) return places;
    places.push(next);
    if (!found.isSymbolicLink()) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) throw new StartError(`${folder} has too many symbolic links`);
    const target = readlinkSync(next);
    names.unshift(...target.split(path.sep));
    if (path.isAbsolute(target)) current = root;
  }
  return places;
}

function lstatOrNot(file) {
  try {
    return lstatSync(file);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new StartError(`cannot look at ${file} (${error.code}): set COUNTERSIGN_DATA_DIR to a folder of your own`);
  }
}

const mayBeWrittenByOthers = ({ mode, uid, gid }) =>
  (mode & OTHERS_MAY_WRITE) !== 0 || ((mode & GROUP_MAY_WRITE) !== 0 && !isPrivateGroup(gid, uid));

/** Many systems give each user a group of their own, and new folders the group's right to write. */
function isPrivateGroup(gid, uid) {
  if (gid === 0) return true; // root's
  const entriesOf = (file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  const users = entriesOf('/etc/passwd');
  const group = entriesOf('/etc/group').find((entry) => Number(entry[2] || NaN) === gid);
  if (group === undefined) return false;
  const owners = users.filter((entry) => Number(entry[2] || NaN) === uid).map(([name]) => name);
  const members = [
    ...(group[3] ?? '').split(',').filter(Boolean),
    ...users.filter((entry) => Number(entry[3] || NaN) === gid).map(([name]) => name),
  ];
  return members.every((name) => owners.includes(name));
}

/** Entries of a data directory with names that runs use. */
export const ownEntries = (dataDir) => readdirSync(dataDir).filter((entry) => OWN_NAMES.test(entry));

/** The first entry of a data directory with a name that no run uses, or undefined. */
export const strangeEntry = (dataDir) => readdirSync(dataDir).find((entry) => !OWN_NAMES.test(entry));

/** The files of runs in a data directory, and those in the folders that are read back. */
function filesOf(dataDir) {
  const folders = READ_FOLDERS.map((name) => path.join(dataDir, name));
  return [...ownEntries(dataDir).map((entry) => path.join(dataDir, entry)), ...folders.flatMap(entriesIn)];
}

function checkContents(dataDir, accounts) {
  for (const file of filesOf(dataDir)) {
    const found = lstatOrNot(file);
    if (found === undefined) continue; // removed meanwhile by another run
    if (!ownersOf(accounts).includes(found.uid)) {
      throw new StartError(
        `${file} belongs to another user (uid ${found.uid}): look at it and remove it, ${ELSEWHERE}`,
      );
    }
    if (accounts.uid === ROOT_UID) checkEntry(file, found);
  }
}

const entriesIn = (folder) =>
  lstatOrNot(folder)?.isDirectory() ? readdirSync(folder).map((entry) => path.join(folder, entry)) : [];

/**
 * Rejects entries that root must not hand over or follow: links, and files with several names. A socket may be left by
 * a server.
 *
 * @param {string} file
 * @param {import('node:fs').Stats} found of lstat
 */
export function checkEntry(file, found) {
  if (found.isDirectory() || found.isSocket()) return;
  if (!found.isFile()) {
    throw new StartError(`${file} is neither a file nor a folder: root does not use it. Remove it, ${ELSEWHERE}`);
  }
  if (found.nlink > 1) {
    throw new StartError(
      `${file} has a second name elsewhere (a hard link): root does not use it. Remove it, ${ELSEWHERE}`,
    );
  }
}

/**
 * The first file in the data directory that another account owns: if there is one, root must not stay root in that
 * directory.
 */
export const foreignEntry = (dataDir) =>
  filesOf(dataDir).find(
    (file) => !SERVER_FOLDER.test(path.relative(dataDir, file)) && lstatSync(file).uid !== ROOT_UID,
  );

/**
 * Whether a process may be ended because a file names it. A file that root alone could write may name any process; a
 * file of another account, or in a folder of another account, only processes of that account.
 *
 * @param {number} pid
 * @param {readonly string[]} places the file, and the folders on the way to it from the data directory
 */
export function mayEnd(pid, places) {
  if (process.getuid === undefined) return true;
  const writer = places.map((file) => lstatOrNot(file)?.uid).find((uid) => uid !== ROOT_UID) ?? ROOT_UID;
  return (writer === ROOT_UID && process.getuid() === ROOT_UID) || ownerOf(pid) === writer;
}
