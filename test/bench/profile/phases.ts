import { type CallFrame, type CallNode, totalMicros } from './cpu-profile.js';

const COLLECTION = 'garbage collection';
const OUTSIDE = 'outside JavaScript';
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const OWN = /\/dist\/(libs\/[^/]+|apps\/[^/]+\/src\/[^/]+|test\/bench)\//;

/**
 * The module that a function belongs to: a folder of ours, a package, a module of node. Null for functions without a
 * source, such as those that node implements in C++: their time is their caller's.
 */
export function moduleOf({ functionName, url }: CallFrame): string | null {
  if (functionName === '(garbage collector)') return COLLECTION;
  if (functionName === '(program)') return OUTSIDE;
  if (url.startsWith('node:')) return `node: ${url.replace(/^node:(internal\/)?/, '').split('/')[0] ?? ''}`;
  if (url.startsWith('wasm:')) return 'WebAssembly';
  const name = PACKAGE.exec(url)?.[1];
  if (name !== undefined) return name;
  return OWN.exec(url)?.[1]?.replace('/src/', '/') ?? null;
}

/** The time in the functions of one module, without that of the functions of other modules that they call. */
export interface Phase {
  readonly module: string;
  /** Of the time in which the process was not idle. */
  readonly percent: number;
  readonly microsPerOperation: number;
}

function addPhases(node: CallNode, callers: string, micros: Map<string, number>): void {
  const module = moduleOf(node.frame) ?? callers;
  micros.set(module, (micros.get(module) ?? 0) + node.selfMicros);
  for (const child of node.children.values()) addPhases(child, module, micros);
}

/** The largest first. Modules below `leastPercent` are one phase, the last. */
export function phasesOf(calls: CallNode, operations: number, leastPercent: number): Phase[] {
  const all = totalMicros(calls);
  if (all === 0 || operations === 0) return [];
  const micros = new Map<string, number>();
  addPhases(calls, OUTSIDE, micros);
  const phases = [...micros]
    .filter(([, own]) => own > 0)
    .map(([module, own]) => ({ module, percent: (own / all) * 100, microsPerOperation: own / operations }))
    .toSorted((one, other) => other.percent - one.percent);
  const large = phases.filter(({ percent }) => percent >= leastPercent);
  const small = phases.slice(large.length);
  return small.length === 0 ? large : [...large, sumOf(`${small.length} modules below ${leastPercent} %`, small)];
}

const sumOf = (module: string, phases: readonly Phase[]): Phase => ({
  module,
  percent: phases.reduce((all, { percent }) => all + percent, 0),
  microsPerOperation: phases.reduce((all, { microsPerOperation }) => all + microsPerOperation, 0),
});
