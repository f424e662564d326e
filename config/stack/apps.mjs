// The processes of the product, from dist.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import path from 'node:path';
import { mayEnd } from './data-dir.mjs';
import { readJson, writePrivate } from './files.mjs';
import { followLog } from './logs.mjs';
import { ROOT } from './prepare.mjs';
import { alive, commandLine, endProcess, identify, stillRuns, stopChild, waitUntil } from './processes.mjs';

/** The gateway may take 10 s to finish its window. */
const STOP_TIMEOUT_MS = 15_000;

export const scriptOf = (app) => path.join(ROOT, `dist/apps/${app}/src/main.js`);
const noteOf = (dataDir) => path.join(dataDir, 'processes.json');
const logOf = (dataDir, name) => path.join(dataDir, 'logs', `${name}.log`);

/**
 * Starts an app. It logs to a file, because a pipe would break at the launcher's end; it detects that end by its IPC
 * channel. Detached: on Ctrl-C in a terminal the launcher stops the apps in order.
 */
export function startApp({ name, phase, environment, dataDir, lifecycle, log }) {
  lifecycle.signal.throwIfAborted();
  const logFile = openLog(dataDir, name);
  const handle = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [scriptOf(name)], {
    cwd: ROOT,
    env: environment,
    detached: true,
    stdio: ['ignore', handle, handle, 'ipc'],
  });
  closeSync(handle);
  const unfollow = followLog(logFile, (line) => log(`${name}: ${line}`));
  child.once('exit', unfollow);
  lifecycle.dependOn(name, child, () => `\nits log: ${logFile}`);
  lifecycle.onStop(phase, () => stopChild(child, 'SIGTERM', STOP_TIMEOUT_MS));
  if (child.pid !== undefined) noteApp(dataDir, name, child.pid);
}

function openLog(dataDir, name) {
  const file = logOf(dataDir, name);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  if (existsSync(file)) renameSync(file, `${file}.old`);
  return file;
}

function noteApp(dataDir, name, pid) {
  const noted = (readJson(noteOf(dataDir)) ?? []).filter((other) => other.name !== name && alive(other.pid));
  writePrivate(noteOf(dataDir), JSON.stringify([...noted, { name, ...identify(pid) }]));
}

/** Apps of a killed launcher stop by themselves, but they keep their ports until then. */
export async function endLeftOverApps({ dataDir, log }) {
  const noted = readJson(noteOf(dataDir)) ?? [];
  const found = noted.filter(
    (app) =>
      stillRuns(app) &&
      commandLine(app.pid).includes(scriptOf(app.name)) &&
      mayEnd(app.pid, [dataDir, noteOf(dataDir)]),
  );
  if (found.length === 0) return;
  log(`waiting for the end of an earlier run (${found.map(({ name }) => name).join(', ')})`);
  await waitUntil(() => !found.some(stillRuns), STOP_TIMEOUT_MS);
  await Promise.all(found.map((app) => endProcess(app, 'SIGKILL', STOP_TIMEOUT_MS)));
}
