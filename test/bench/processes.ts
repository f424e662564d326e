import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import net from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from '../support/free-port.js';
import { stopProcess } from '../support/programs.js';
import type { MeteredProcess, Role } from './cpu/use.js';
import { PROBE_PORT } from './probe/protocol.js';

const READY_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 15_000;
const POLL_MS = 50;

/** The root of the compiled tree: this file runs as dist/test/bench/processes.js. */
const DIST = new URL('../../', import.meta.url);

/** A process under measurement. */
export interface Subject {
  readonly name: string;
  readonly port: number;
  /** Processes whose CPU time is measured for the subject; empty when it has none of its own. */
  readonly processes: readonly MeteredProcess[];
  /** Resident set of the process, in MiB. */
  rssMiB(): number;
  /** SIGTERM, then SIGKILL after 15 s; resolves when the process has ended. */
  stop(): Promise<void>;
}

/** A subject whose process can be stopped. */
export interface RunningSubject extends Subject {
  /** Stops the process (SIGSTOP) until `thaw`. */
  freeze(): void;
  thaw(): void;
}

/**
 * Ids of started processes, so that the launcher can end them if the bench is killed: a stopped process does not detect
 * that its IPC channel closed.
 */
const PROCESS_FILE = process.env['BENCH_PROCESS_FILE'];

export function noteProcess(pid: number): void {
  if (PROCESS_FILE !== undefined) appendFileSync(PROCESS_FILE, `${pid}\n`);
}

function forkNoted(script: URL, options: ForkOptions): ChildProcess {
  const child = fork(fileURLToPath(script), [], options);
  if (child.pid !== undefined) noteProcess(child.pid);
  return child;
}

function connects(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function waitUntil(what: string, child: ChildProcess, ready: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  while (!(await ready())) {
    if (child.exitCode !== null) throw new Error(`${what} stopped with code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`${what} was not ready within ${READY_DEADLINE_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Resident set of a process, in MiB. */
export function rssMiB(pid: number | undefined): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

export interface SubjectOptions {
  readonly name: string;
  readonly role: Role;
  /** The folder of the build; without it, that of the bench itself. */
  readonly dist?: string;
  /** The script below the build, such as `apps/gateway/src/main.js`. */
  readonly script: string;
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
  /** The URL of the readiness check; without it an open port is enough. */
  readonly readyUrl?: string;
}

/** Is loaded before the script, from the build of the bench: every build can be measured with it. */
const AGENT = new URL('test/bench/probe/agent.js', DIST).href;

/** Starts a process with an agent and waits until it serves. It ends with this process in every case. */
export async function startSubject(options: SubjectOptions): Promise<RunningSubject> {
  const dist = options.dist === undefined ? DIST : pathToFileURL(`${options.dist}/`);
  const probePort = await freePort();
  const child = forkNoted(new URL(options.script, dist), {
    env: { ...process.env, ...options.env, [PROBE_PORT]: String(probePort) },
    execArgv: ['--import', AGENT],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { readyUrl } = options;
  await waitUntil(options.name, child, async () => {
    if (readyUrl === undefined) return connects(options.port);
    return fetch(readyUrl).then(
      (response) => response.ok,
      () => false,
    );
  });
  return {
    name: options.name,
    port: options.port,
    processes: child.pid === undefined ? [] : [{ role: options.role, pid: child.pid, probePort }],
    rssMiB: () => rssMiB(child.pid),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: () => stopProcess(child, { killAfterMs: STOP_DEADLINE_MS }),
  };
}

/** Runs a load generator in a process of its own: receives `task` by IPC, sends one result. */
export function runLoad<Result>(script: string, task: object): Promise<Result> {
  const child = forkNoted(new URL(`test/bench/load/${script}`, DIST), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  return new Promise<Result>((resolve, reject) => {
    child.once('message', (result) => resolve(result as Result));
    child.once('exit', (code) => reject(new Error(`${script} ended with code ${String(code)} and no result`)));
    child.send(task);
  });
}

/** A load generator that stays: it answers each order once. */
export interface LiveLoad {
  ask<Result>(order: object): Promise<Result>;
  stop(): Promise<void>;
}

export function startLoad(script: string): LiveLoad {
  const child = forkNoted(new URL(`test/bench/load/${script}`, DIST), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`${script} ended with code ${String(code)} and no result`)));
  });
  gone.catch(() => undefined);
  return {
    ask: <Result>(order: object) => {
      const answer = new Promise<Result>((resolve) => child.once('message', (result) => resolve(result as Result)));
      child.send(order);
      return Promise.race([answer, gone]);
    },
    stop: () => stopProcess(child, { killAfterMs: STOP_DEADLINE_MS }),
  };
}
