import { readdirSync, readFileSync } from 'node:fs';

/** CPU time as /proc/<pid>/stat reports it (proc_pid_stat(5)). */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** utime + stime of all its threads, also of those that ended. */
  readonly ownTicks: number;
  /** cutime + cstime: children that ended and were waited for, with theirs. */
  readonly endedChildrenTicks: number;
}

/** USER_HZ: 100 on every architecture that Node supports, whatever the kernel's own rate is. */
const MICROS_PER_TICK = 10_000;
const NANOS_PER_MICRO = 1_000;
/** Places of the fields after the command name; `state`, field 3 of the manual page, is place 0. */
const PLACE = { parent: 1, utime: 11, stime: 12, cutime: 13, cstime: 14 } as const;

/** Null when the text is not that of a process. The command name may hold spaces and brackets. */
export function parseStat(text: string): ProcessStat | null {
  const nameEnd = text.lastIndexOf(')');
  const pid = Number.parseInt(text, 10);
  const fields = text.slice(nameEnd + 2).split(' ');
  const at = (place: keyof typeof PLACE): number => Number(fields[PLACE[place]] ?? Number.NaN);
  const stat = {
    pid,
    parent: at('parent'),
    ownTicks: at('utime') + at('stime'),
    endedChildrenTicks: at('cutime') + at('cstime'),
  };
  return nameEnd < 0 || Object.values(stat).some((value) => !Number.isSafeInteger(value) || value < 0) ? null : stat;
}

/** The process and its descendants; empty when it is not among them. */
export function treeOf(root: number, stats: readonly ProcessStat[]): ProcessStat[] {
  const childrenOf = new Map<number, ProcessStat[]>();
  for (const stat of stats) childrenOf.set(stat.parent, [...(childrenOf.get(stat.parent) ?? []), stat]);
  const tree = stats.filter(({ pid }) => pid === root);
  // Children are appended while the loop runs: it ends when no member has further ones.
  for (const { pid } of tree) tree.push(...(childrenOf.get(pid) ?? []));
  return tree;
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null; // the process has ended
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

/** Every process that this one may see. */
export function readStats(): ProcessStat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = parseStat(textOf(`/proc/${pid}/stat`) ?? '');
    return stat === null ? [] : [stat];
  });
}

/** Nanoseconds of the threads that live, in microseconds; 0 where the kernel does not count them. */
function threadMicros(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const nanos = namesIn(folder).map((thread) => Number.parseInt(textOf(`${folder}/${thread}/schedstat`) ?? '0', 10));
  return nanos.reduce((all, value) => all + value, 0) / NANOS_PER_MICRO;
}

/**
 * CPU time of one process without its children. A tick is 10 ms, which is too coarse for Redis in a window of a few seconds
 * and for dozens of backends that are rounded each on its own; schedstat is exact and lacks threads that ended. Neither
 * exceeds the true time, so the larger is nearer to it.
 */
const ownMicros = ({ pid, ownTicks }: ProcessStat): number => Math.max(ownTicks * MICROS_PER_TICK, threadMicros(pid));

/**
 * CPU time of a process and its descendants since they began. Backends that ended are in the counters of their parent, so
 * the figure of a tree only grows. Throws when the process is gone.
 */
export function treeMicros(root: number, stats: readonly ProcessStat[]): number {
  const tree = treeOf(root, stats);
  if (tree.length === 0) throw new Error(`process ${root} has ended: its CPU time is unknown`);
  return tree.reduce((all, stat) => all + ownMicros(stat) + stat.endedChildrenTicks * MICROS_PER_TICK, 0);
}
