/** Where a function was defined. Functions of V8 and of node's C++ have no url. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0; -1 where there is none. */
  readonly lineNumber: number;
}

/** A profile of V8 (`Profiler.Profile` of the DevTools protocol); only the fields that are used. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: CallFrame;
    readonly children?: readonly number[] | undefined;
  }[];
  /** The node that ran at each sample. */
  readonly samples?: readonly number[] | undefined;
  /** Microseconds from the sample before. */
  readonly timeDeltas?: readonly number[] | undefined;
}

/** A call with the callers that led to it. */
export interface CallNode {
  readonly frame: CallFrame;
  /** In the function itself. */
  selfMicros: number;
  readonly children: Map<string, CallNode>;
}

const IDLE = '(idle)';
const keyOf = ({ functionName, url, lineNumber }: CallFrame): string => `${functionName}\n${url}\n${lineNumber}`;
const nodeOf = (frame: CallFrame): CallNode => ({ frame, selfMicros: 0, children: new Map<string, CallNode>() });

/** A sample stands for the time until the next one. */
function microsByNode({ samples = [], timeDeltas = [] }: CpuProfile): Map<number, number> {
  const micros = new Map<number, number>();
  for (const [at, id] of samples.entries()) micros.set(id, (micros.get(id) ?? 0) + (timeDeltas[at + 1] ?? 0));
  return micros;
}

/** Adds the profiles of several runs to one tree, by function; the time in which the process was idle is left out. */
export function mergedCalls(profiles: readonly CpuProfile[]): CallNode {
  const root = nodeOf({ functionName: '(root)', url: '', lineNumber: -1 });
  for (const profile of profiles) {
    const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
    const micros = microsByNode(profile);
    const add = (into: CallNode, id: number): void => {
      into.selfMicros += micros.get(id) ?? 0;
      for (const child of nodes.get(id)?.children ?? []) {
        const frame = nodes.get(child)?.callFrame;
        if (frame === undefined || frame.functionName === IDLE) continue;
        const key = keyOf(frame);
        const node = into.children.get(key) ?? nodeOf(frame);
        into.children.set(key, node);
        add(node, child);
      }
    };
    const [first] = profile.nodes;
    if (first !== undefined) add(root, first.id);
  }
  return root;
}

/** In the function and everything that it called. */
export function totalMicros({ selfMicros, children }: CallNode): number {
  return [...children.values()].reduce((all, child) => all + totalMicros(child), selfMicros);
}
