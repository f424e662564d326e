import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { until } from './until.js';

/** Debian keeps daemons where not every PATH looks. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
const HEARD_WITHIN_MS = 15_000;
const STOP_MS = 10_000;

/** A program of that name on this machine, or null. */
export function findProgram(name: string): string | null {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** Whether something is missing for tests; says so once, so that nobody takes a skipped test for one that passed. */
export function isMissing(what: string, aptPackage: string, isHere: boolean): boolean {
  if (!isHere) console.log(`skipped: every test against ${what} (not on this machine: apt-get install ${aptPackage})`);
  return !isHere;
}

export const kannelIsMissing = isMissing(
  'Kannel',
  'kannel',
  findProgram('bearerbox') !== null && findProgram('smsbox') !== null,
);
export const netSmppIsMissing = isMissing(
  'Net::SMPP',
  'libnet-smpp-perl',
  spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0,
);
export const tsharkIsMissing = isMissing('tshark', 'tshark', findProgram('tshark') !== null);

/** A program that is told and tells by lines. */
export class LineProcess {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  #rest = '';
  #read = 0;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines);
    });
  }

  /** Says a line and answers the next one that it has not answered before and that begins as told. */
  async ask(line: string, beginning: string): Promise<string[]> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next(beginning);
  }

  /** The words of the next line that begins so, and that was not given before; lines before it are passed over. */
  async next(beginning: string): Promise<string[]> {
    let found: string | undefined;
    await until(`a line that begins with ${beginning}`, HEARD_WITHIN_MS, () => {
      const at = this.lines.findIndex((line, n) => n >= this.#read && line.startsWith(beginning));
      if (at < 0) return false;
      this.#read = at + 1;
      found = this.lines[at];
      return true;
    });
    return (found ?? '').split(' ');
  }

  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  stop(): Promise<void> {
    return stopProcess(this.#child);
  }
}

/** SIGTERM, and SIGKILL for one that does not go. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.kill('SIGTERM');
  await gone;
  clearTimeout(timer);
}
