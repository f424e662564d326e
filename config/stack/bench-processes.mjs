// Processes of the bench end with it by their IPC channel. A stopped process (SIGSTOP) cannot detect that its channel
// closed.
import { existsSync, readFileSync } from 'node:fs';
import { commandLine, endProcess, identify } from './processes.mjs';

const STOP_TIMEOUT_MS = 5_000;

/**
 * Ends the processes that a killed bench has left.
 *
 * @param {string} file process ids, one a line, as test/bench/processes.ts writes them
 * @param {string[]} folders the folders of the builds: an id that another program has by now is ignored
 */
export async function endLeftOvers(file, folders) {
  if (!existsSync(file)) return;
  const pids = readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number);
  const left = pids.filter((pid) => folders.some((folder) => commandLine(pid).includes(folder)));
  await Promise.all(
    left.map(identify).map(async (found) => {
      try {
        process.kill(found.pid, 'SIGCONT');
        await endProcess(found, 'SIGTERM', STOP_TIMEOUT_MS);
      } catch (error) {
        if (error.code !== 'ESRCH') throw error; // the process has ended meanwhile
      }
    }),
  );
}
