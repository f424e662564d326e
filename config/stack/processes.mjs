// Facts about other processes. A process id can be reused, so an id alone never identifies a process.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { showLines } from './printable.mjs';

const POLL_MS = 25;
const COMMAND_STOP_MS = 2000;
/** A process that a command has left may keep its output open. */
const LAST_OUTPUT_MS = 1000;

/** The variables that a server of the stores needs, without the keys of this process, which the account of the server could read. */
export const serverEnvironment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: '/',
  LC_ALL: 'C',
  LC_MESSAGES: 'C',
});

/** Fields of /proc/<pid>/stat after the name, which may hold spaces and brackets; undefined without such a process or /proc. */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

const ps = (pid, field) =>
  (spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '').trim();

/** Whether a process with this id runs. A zombie does not. */
export function alive(pid) {
  if (!(pid > 1)) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== 'EPERM') return false;
  }
  return !['Z', 'X'].includes(statFields(pid)?.[0]);
}

/** The start time of a process, as text: differs between two processes that had the same id. */
export function startMark(pid) {
  const fields = statFields(pid);
  if (fields !== undefined) {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  }
  return ps(pid, 'lstart');
}

export function parentOf(pid) {
  return Number(statFields(pid)?.[1] ?? ps(pid, 'ppid'));
}

/** The real user id of a process; NaN without such a process. */
export function ownerOf(pid) {
  try {
    return Number(/^Uid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return Number(ps(pid, 'ruid') || NaN);
  }
}

export function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return ps(pid, 'args');
  }
}

/** Identifies a process beyond its id. @returns {{ pid: number, mark: string }} */
export const identify = (pid) => ({ pid, mark: startMark(pid) });

/** Whether exactly that process still runs. */
export const stillRuns = ({ pid, mark }) => alive(pid) && startMark(pid) === mark;

/** Waits until the condition holds. @returns {Promise<boolean>} false when the time ran out */
export async function waitUntil(condition, timeoutMs) {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

/** Signals a process that is not our child and waits for its end; kills it when it takes too long. */
export async function endProcess(found, signal, timeoutMs) {
  const gone = () => !stillRuns(found);
  if (gone()) return;
  process.kill(found.pid, signal);
  if (await waitUntil(gone, timeoutMs)) return;
  process.kill(found.pid, 'SIGKILL');
  await waitUntil(gone, timeoutMs);
}

/** Signals a child and waits for its end; kills it when it takes too long. @returns {Promise<void>} */
export function stopChild(child, signal, timeoutMs) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill(signal);
  });
}

/**
 * Runs a command to its end, its output on our standard error (standard output is kept for what `npm start` answers),
 * control characters escaped.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ signal?: AbortSignal, onStart?: (pid: number) => void } & import('node:child_process').SpawnOptions} options
 * @returns {Promise<number>} the exit code; 1 for an end by a signal
 */
export function runCommand(command, args, { signal, onStart, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) showLines(stream);
    if (child.pid !== undefined) onStart?.(child.pid);
    const stop = () => void stopChild(child, 'SIGTERM', COMMAND_STOP_MS);
    signal?.addEventListener('abort', stop, { once: true });
    child.once('error', reject);
    child.once('exit', (code) => {
      signal?.removeEventListener('abort', stop);
      const end = () => resolve(code ?? 1);
      child.once('close', end);
      setTimeout(end, LAST_OUTPUT_MS).unref();
    });
  });
}
