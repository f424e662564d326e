// A lock file that names its holder and is taken over when the holder's process has ended.
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { identify, stillRuns } from './processes.mjs';

const TRIES = 20;
/** A lock file without a name is still being written; if it is older than this, its writer has died. */
const WRITING_MS = 2000;

/**
 * @param {string} file
 * @returns {{ release: () => void } | { heldBy: number }} heldBy: the process id of the holder, 0 while the file does
 * not name it yet
 */
export function takeLock(file) {
  const mine = JSON.stringify(identify(process.pid));
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 });
      return { release: () => release(file, mine) };
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const found = read(file);
    if (found === undefined) continue;
    if (isHeld(found)) return { heldBy: found.holder?.pid ?? 0 };
    removeStale(file, found.text);
  }
  return { heldBy: 0 };
}

function read(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return { text, holder: parse(text), ageMs: Date.now() - statSync(file).mtimeMs };
  } catch (error) {
    if (error.code === 'ENOENT') return undefined; // released meanwhile
    throw error;
  }
}

function parse(text) {
  try {
    const { pid, mark } = JSON.parse(text);
    return { pid, mark };
  } catch {
    return undefined;
  }
}

const isHeld = ({ holder, ageMs }) => (holder === undefined ? ageMs < WRITING_MS : stillRuns(holder));

/**
 * Moved aside before it is removed: if two processes find it stale, only one moves it, and checks the moved file again.
 */
function removeStale(file, staleText) {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') !== staleText) linkSync(aside, file); // the other process's new lock: put it back
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function release(file, mine) {
  if (read(file)?.text === mine) rmSync(file, { force: true });
}
