import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { freePort, PRIVATE_PORTS } from '../../config/stack/ports.mjs';
import { until } from './until.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folders that a clone lacks: created by installing, building and running. */
const MADE_HERE = new Set(['.git', 'node_modules', 'dist', '.data', 'coverage']);

/** Contract, Running it. */
export interface Quickstart {
  readonly baseUrl: string;
  readonly caFile: string;
  readonly accountId: string;
  readonly brandId: string;
  readonly brandSlug: string;
  readonly apiKey: string;
  readonly testApiKey: string;
  readonly webhookSecret: string;
  readonly testWebhookSecret: string;
  readonly adminKey: string;
  readonly consoleUrl: string;
  readonly phoneUrl: string;
  readonly demoUrl: string;
  readonly inboundNumber: string;
  readonly smpp: { readonly port: number; readonly systemId: string; readonly password: string };
  readonly realtimeUrl: string;
}

const PORTS = [
  'CONTROL_PLANE_PORT',
  'CONTROL_PLANE_OPS_PORT',
  'GATEWAY_HTTP_PORT',
  'GATEWAY_SMPP_PORT',
  'GATEWAY_SMPP_TLS_PORT',
  'GATEWAY_OPS_PORT',
  'SIMULATOR_SMPP_PORT',
  'SIMULATOR_HTTP_PORT',
] as const;
type PortVariable = (typeof PORTS)[number];
export type Ports = Readonly<Record<PortVariable, number>>;

/** First port of the search: outside the range of the private servers, of which a started run uses some. */
const FIRST_PORT = Number(process.env['STACK_PORT'] ?? PRIVATE_PORTS.from) + PRIVATE_PORTS.count;

/** Different free ports of 127.0.0.1 outside the system's ephemeral range: they can be released and used again. */
export async function freePorts(): Promise<Ports> {
  const found: [PortVariable, number][] = [];
  for (const variable of PORTS) found.push([variable, await freePort(FIRST_PORT)]);
  return Object.fromEntries(found) as Record<PortVariable, number>;
}

export interface StackOptions {
  /** The checkout to start; this one by default. */
  readonly root?: string;
  readonly dataDir: string;
  readonly ports: Ports;
  /** Added to this environment, from which variables of stores and tests are removed. Undefined removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `npm start`, or the launcher alone. */
  readonly by?: 'npm' | 'node';
}

/** The longest wait of a create for its card: delivery times depend on the machine. */
export const CARD_WAIT = { RCS_DELIVERY_WAIT_MS: '8000' };

const NOT_INHERITED = [
  'DATABASE_URL',
  'DATABASE_MIGRATION_URL',
  'REDIS_URL',
  'NODE_ENV',
  'VITEST',
  'npm_lifecycle_event',
  'npm_execpath',
];

function environmentOf({ dataDir, ports, environment }: StackOptions): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !NOT_INHERITED.includes(name));
  const texts = Object.entries(ports).map(([name, port]): [string, string] => [name, String(port)]);
  return {
    ...Object.fromEntries<string | undefined>([...own, ...texts]),
    COUNTERSIGN_DATA_DIR: dataDir,
    ...environment,
  };
}

/** A started launcher, which may still be starting or have failed. */
export class Launcher {
  #output = '';
  #answer = '';
  readonly ended: Promise<number | null>;

  private constructor(
    readonly child: ChildProcess,
    readonly options: StackOptions,
  ) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#answer += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.ended = new Promise((resolve) => child.once('close', resolve));
  }

  static start(options: StackOptions): Launcher {
    const [command, args] = options.by === 'npm' ? ['npm', ['start']] : [process.execPath, ['config/stack/start.mjs']];
    const child = spawn(command, args, {
      cwd: options.root ?? ROOT,
      env: environmentOf(options),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Launcher(child, options);
  }

  /** Its standard error so far. */
  get output(): string {
    return this.#output;
  }

  /** Its standard output so far. */
  get answer(): string {
    return this.#answer;
  }

  get quickstartFile(): string {
    return path.join(this.options.dataDir, 'quickstart.json');
  }

  /** Resolves when it is ready; rejects with its output when it ends or takes too long (it is stopped then). */
  async ready(withinMs: number): Promise<Stack> {
    const isReady = (): boolean => this.#answer.includes('Ctrl-C stops everything');
    const isUp = until('npm start is ready', withinMs, () => isReady() || this.child.exitCode !== null);
    await isUp.catch(async (error: unknown) => {
      await this.end('SIGTERM');
      throw new Error(`${String(error)}\n${this.#output}`);
    });
    if (!isReady()) throw new Error(`the launcher ended with ${String(this.child.exitCode)}\n${this.#output}`);
    return new Stack(this, JSON.parse(readFileSync(this.quickstartFile, 'utf8')) as Quickstart);
  }

  /** Sends a signal to the launcher (or to npm) and waits for its end. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.ended;
  }
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The whole product, ready. */
export class Stack {
  readonly #agent: Agent;
  readonly simulatorUrl: string;

  constructor(
    readonly launcher: Launcher,
    readonly quickstart: Quickstart,
  ) {
    this.#agent = new Agent({ connect: { ca: readFileSync(quickstart.caFile) } });
    this.simulatorUrl = `http://127.0.0.1:${launcher.options.ports.SIMULATOR_HTTP_PORT}`;
  }

  /** Calls the API over TLS with the local authority, with the quickstart key unless another is given. */
  async api(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    pathname: string,
    body?: object,
    { key = this.quickstart.apiKey, headers = {} }: { key?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Answer> {
    const response = await request(`${this.quickstart.baseUrl}${pathname}`, {
      method,
      dispatcher: this.#agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  }

  /** Calls the simulator's control surface. */
  async simulator(method: 'GET' | 'POST' | 'PUT', pathname: string, body?: object): Promise<Answer> {
    const response = await request(`${this.simulatorUrl}${pathname}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.statusCode, body: (await response.body.json()) as Record<string, unknown> };
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    await this.#agent.close();
    return this.launcher.end(signal);
  }
}

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/** Living processes of a run: those with its data directory in their environment or arguments. */
export function runningOf(dataDir: string): RunningProcess[] {
  const own = String(process.pid);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== own);
  return pids.flatMap((pid) => {
    const command = saidOf(pid, 'cmdline');
    const isOfRun = [command, saidOf(pid, 'environ')].some((text) => text.includes(dataDir));
    return isOfRun ? [{ pid: Number(pid), command: command.replaceAll('\0', ' ') }] : [];
  });
}

/** The command lines of these processes. */
export const processesOf = (dataDir: string): string[] => runningOf(dataDir).map(({ command }) => command);

/** Empty for a process of another user, or one that has ended since it was listed. */
function saidOf(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** A folder that is removed after the test. */
export function temporaryFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-e2e-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The sources as in a fresh clone: nothing installed, nothing built. */
export function copyOfSources(target: string): void {
  cpSync(ROOT, target, { recursive: true, filter: (source) => !MADE_HERE.has(path.relative(ROOT, source)) });
}
