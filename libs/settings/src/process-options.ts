import { url as inspectorUrl } from 'node:inspector';
import ipaddr from 'ipaddr.js';
import type { SettingFault } from './settings-error.js';

/** Options of the process itself, beside its settings. Null: not set. */
export interface ProcessOptions {
  readonly debug: string | null;
  readonly nodeDebug: string | null;
  readonly nodeOptions: string | null;
  readonly nodeTlsRejectUnauthorized: string | null;
  /** Options of the command line before the program. */
  readonly commandLine: readonly string[];
  /** Of the open debugger: `ws://<host>:<port>/<id>`. */
  readonly debuggerUrl: string | null;
}

/** The variables among these; `DEBUG` of a process that uses Redis. */
export type ProcessVariables = Omit<ProcessOptions, 'commandLine' | 'debuggerUrl' | 'debug'> &
  Partial<Pick<ProcessOptions, 'debug'>>;

/** With the options of the running process that are not variables. */
export const optionsOfThisProcess = (variables: ProcessVariables): ProcessOptions => ({
  debug: variables.debug ?? null,
  nodeDebug: variables.nodeDebug,
  nodeOptions: variables.nodeOptions,
  nodeTlsRejectUnauthorized: variables.nodeTlsRejectUnauthorized,
  commandLine: process.execArgv,
  debuggerUrl: inspectorUrl() ?? null,
});

/** `ioredis:redis` prints each command with its arguments, AUTH included. */
const PRINTING_NAMESPACES = ['ioredis:redis', 'ioredis:connection', 'ioredis:dataHandler'];

/** Options of Node that give secrets away or weaken a parser; underscores count as hyphens. */
const REFUSED_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--tls-keylog', 'writes the keys of TLS connections to a file'],
  ['--trace-tls', 'prints the packets of TLS connections'],
  ['--insecure-http-parser', 'accepts requests that can be read in two ways'],
]);

const WRITES_MEMORY = 'lets Node write its memory or its environment, keys included, to a file';
/** `--heapsnapshot-near-heap-limit`, `--report-on-signal` and the like. */
const MEMORY_TO_DISK = /^--(?:heapsnapshot-|heap-prof|report-|diagnostic-dir$)/;

const DEBUGGER = /^--(?:inspect|inspect-brk|inspect-wait|inspect-port|debug-port)$/;

/** Options of the process that production refuses: they print secrets, open a debugger to a network, or weaken TLS. */
export function processFaults(options: ProcessOptions): SettingFault[] {
  const { debug, nodeDebug, nodeTlsRejectUnauthorized, debuggerUrl } = options;
  const faults: SettingFault[] = [];
  if (debug !== null && PRINTING_NAMESPACES.some((namespace) => isEnabled(debug, namespace))) {
    faults.push(refused('DEBUG', 'prints passwords and the commands of Redis'));
  }
  if (nodeDebug !== null) faults.push(refused('NODE_DEBUG', 'prints what Node sends and receives'));
  if (nodeTlsRejectUnauthorized === '0') {
    faults.push(refused('NODE_TLS_REJECT_UNAUTHORIZED', 'turns off the verification of every server'));
  }
  for (const { source, name, value } of listOptions(options)) {
    const harm = REFUSED_OPTIONS.get(name) ?? (MEMORY_TO_DISK.test(name) ? WRITES_MEMORY : undefined);
    if (harm !== undefined) faults.push(refused(source, `has ${name}, which ${harm}`));
    if (DEBUGGER.test(name) && !isLoopback(hostOfDebugger(value))) faults.push(debuggerFault(source, name));
  }
  if (faults.length === 0 && debuggerUrl !== null && !isLoopback(new URL(debuggerUrl).hostname)) {
    faults.push(debuggerFault('NODE_OPTIONS', 'the debugger'));
  }
  return faults;
}

/** A debugger on loopback, as a sentence: every account of the machine can read the keys through it. */
export function processWarnings(options: ProcessOptions): string[] {
  const isOpen = options.debuggerUrl !== null || listOptions(options).some(({ name }) => /^--inspect/.test(name));
  if (!isOpen) return [];
  return ['a debugger is open on loopback (--inspect), so every account of this machine can read the keys: remove it'];
}

const refused = (variable: string, fault: string): SettingFault => ({
  variable,
  fault,
  allowed: 'not set in production',
});

const debuggerFault = (variable: string, name: string): SettingFault => ({
  variable,
  fault: `opens a debugger to a network (${name}): whoever connects to it runs code here and reads the keys`,
  allowed: 'no debugger, or one on 127.0.0.1',
});

interface NodeOption {
  /** The variable, or the words for the command line. */
  readonly source: string;
  readonly name: string;
  /** After an equals sign; empty without one. */
  readonly value: string;
}

function listOptions({ nodeOptions, commandLine }: ProcessOptions): NodeOption[] {
  const ofVariable = (nodeOptions ?? '').split(/\s+/).map((word) => optionOf('NODE_OPTIONS', word));
  return [...ofVariable, ...commandLine.map((word) => optionOf('the command line', word))];
}

function optionOf(source: string, word: string): NodeOption {
  const [name = '', ...rest] = word.replaceAll('"', '').split('=');
  return { source, name: name.replaceAll('_', '-'), value: rest.join('=') };
}

/** `<port>`, `<host>` or `<host>:<port>`; 127.0.0.1 without a host. */
function hostOfDebugger(value: string): string {
  if (/^[0-9]*$/.test(value)) return '127.0.0.1';
  return /^\[.*\]/.exec(value)?.[0] ?? value.replace(/:[0-9]*$/, '');
}

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = host.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** Whether the package `debug` prints a namespace: patterns with `*`, after a hyphen those that are excluded. */
function isEnabled(patterns: string, namespace: string): boolean {
  const words = patterns.split(/[\s,]+/).filter((word) => word !== '');
  const matches = (pattern: string): boolean =>
    new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`).test(namespace);
  const isExcluded = words.some((word) => word.startsWith('-') && matches(word.slice(1)));
  return !isExcluded && words.some((word) => !word.startsWith('-') && matches(word));
}
