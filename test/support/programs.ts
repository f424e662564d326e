import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Debian installs daemons in folders that are not on every PATH. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
const KILL_AFTER_MS = 10_000;

/** The path of a program on this machine, or null. */
export function findProgram(name: string): string | null {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** Sends a signal, then SIGKILL to a process that does not end; resolves when it has ended. */
export async function stopProcess(
  child: ChildProcess,
  {
    signal = 'SIGTERM',
    killAfterMs = KILL_AFTER_MS,
  }: { readonly signal?: NodeJS.Signals; readonly killAfterMs?: number } = {},
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  child.kill(signal);
  await gone;
  clearTimeout(timer);
}
