import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import { isKannelInstalled } from './kannel.js';
import { findProgram, stopProcess } from './programs.js';
import { until } from './until.js';

const ANSWER_WITHIN_MS = 15_000;

/** Whether a program is missing; prints that once, so that a skipped test is not taken for a passed one. */
export function isMissing(what: string, aptPackage: string, isHere: boolean): boolean {
  if (!isHere) console.log(`skipped: every test against ${what} (not on this machine: apt-get install ${aptPackage})`);
  return !isHere;
}

export const kannelIsMissing = isMissing('Kannel', 'kannel', isKannelInstalled());
export const netSmppIsMissing = isMissing(
  'Net::SMPP',
  'libnet-smpp-perl',
  spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0,
);
const compilesC = (include: string): boolean =>
  spawnSync('cc', ['-fsyntax-only', '-x', 'c', '-'], { input: `#include <stdio.h>\n#include <${include}>\n` })
    .status === 0;
export const libsmpp34IsMissing = isMissing(
  'libsmpp34',
  'libsmpp34-dev gcc libc6-dev',
  compilesC('libsmpp34/smpp34.h'),
);
export const osmoMscIsMissing = isMissing(
  'OsmoMSC',
  'osmo-msc gcc libc6-dev',
  findProgram('osmo-msc') !== null && compilesC('dlfcn.h'),
);
export const tsharkIsMissing = isMissing('tshark', 'tshark', findProgram('tshark') !== null);

/** Compiles a C source of `test/interop` with these arguments of cc into a file; throws with the errors of the compiler. */
export function compileC(source: string, target: string, args: readonly string[]): void {
  const file = path.resolve('test/interop', source);
  const { status, stderr } = spawnSync('cc', ['-std=gnu11', '-O1', '-Wall', '-o', target, file, ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`cc ${source}: ${stderr}`);
}

/** A program that exchanges lines by standard input and output. */
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

  /** Writes a line and returns the next unread line that begins with `beginning`. */
  async ask(line: string, beginning: string): Promise<string[]> {
    this.#child.stdin?.write(`${line}\n`);
    return this.next(beginning);
  }

  /** The words of the next unread line with that beginning; earlier lines are skipped. */
  async next(beginning: string): Promise<string[]> {
    let found: string | undefined;
    await until(`a line that begins with ${beginning}`, ANSWER_WITHIN_MS, () => {
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
