import { addMicros, CPU_FIGURES, type CpuPerOperation, type CpuUse, perOperation } from './cpu/use.js';
import type { ProbeFigures, RoleProfile } from './probe/probes.js';
import { median } from './statistics.js';

/** The figures of one run of a load generator. */
export interface Measure {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
  /** Of the same time as the figures above; absent where CPU time is not measured. */
  readonly cpu?: CpuUse;
  /** Bytes on the heaps of V8 per operation, by the applications or by the baseline; absent where it is not measured. */
  readonly allocatedBytes?: number;
  /** Of the same time; absent unless the bench profiles. */
  readonly profiles?: readonly Profiled[];
  /** Pages of PostgreSQL that an operation read, from its buffers or not; absent where they are not counted. */
  readonly pages?: number;
  /** Absent in a closed loop. */
  readonly pace?: MeasuredPace;
}

/** The profile of one process of a run. */
export interface Profiled extends RoleProfile {
  readonly operations: number;
}

/** Adds what the agents measured to a run of so many operations. */
export function withProbes(measure: Measure, operations: number, { allocatedBytes, profiles }: ProbeFigures): Measure {
  return {
    ...measure,
    ...(allocatedBytes === undefined || operations === 0 ? {} : { allocatedBytes: allocatedBytes / operations }),
    ...(profiles.length === 0 ? {} : { profiles: profiles.map((each) => ({ ...each, operations })) }),
  };
}

/** The measures of load generators that ran at the same time: rates and CPU time are added, latencies are the highest. */
export function combined(measures: readonly Measure[]): Measure {
  const [only] = measures;
  if (only !== undefined && measures.length === 1) return only;
  const total = (of: (measure: Measure) => number): number => measures.reduce((sum, measure) => sum + of(measure), 0);
  return {
    perSecond: total(({ perSecond }) => perSecond),
    p50Ms: Math.max(...measures.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...measures.map(({ p99Ms }) => p99Ms)),
    errors: total(({ errors }) => errors),
    cpu: {
      operations: total(({ cpu }) => cpu?.operations ?? 0),
      micros: measures.reduce((micros, { cpu }) => addMicros(micros, cpu?.micros ?? {}), {}),
    },
  };
}

/** A load that is sent at a constant rate; `perSecond` of its measure is the rate of the answers. */
export interface MeasuredPace {
  /** The intended rate. */
  readonly perSecond: number;
  /** How late the generator sent its requests, in milliseconds; the latencies include it. */
  readonly sendDelayP99Ms: number;
  /** The highest p99 of the requests that were due in one second. */
  readonly worstSecondP99Ms: number;
}

/** One subject over all rounds: medians, and its resident set at the end. */
export interface Row extends Omit<Measure, 'cpu' | 'pace' | 'allocatedBytes' | 'pages'> {
  readonly section: string;
  readonly subject: string;
  readonly rssMiB: number;
  /** Microseconds per operation. */
  readonly cpuMicros?: CpuPerOperation;
  /** Per operation. */
  readonly allocatedKiB?: number;
}

/** The results of a section. */
export interface Section {
  readonly rows: readonly Row[];
  readonly ratios: readonly Ratio[];
  /** Comparisons that were left out, and why. */
  readonly notes?: readonly string[];
}

/** A figure that can be compared across machines, and its target. */
export interface Ratio {
  readonly section: string;
  readonly name: string;
  readonly value: number;
  readonly reachFor: string;
}

const kibOf = (bytes: number): number => Math.round((bytes / 1_024) * 10) / 10;

/** A run in a few words, for the progress of the bench. */
export function summary({ perSecond, p99Ms, cpu, pace, allocatedBytes }: Measure): string {
  const micros = cpu === undefined ? undefined : perOperation(cpu)['total without load'];
  const words = micros === undefined ? '' : `, CPU ${Math.round(micros)} µs per operation without the load generator`;
  const rate = `${Math.round(perSecond)}/s${pace === undefined ? '' : ` of ${pace.perSecond}/s`}`;
  const delay = pace === undefined ? '' : `, sent late by ${pace.sendDelayP99Ms} ms (p99)`;
  const garbage = allocatedBytes === undefined ? '' : `, ${kibOf(allocatedBytes)} KiB allocated`;
  return `${rate}, p99 ${p99Ms} ms${delay}${words}${garbage}`;
}

/** The median of each figure over the runs that have it, in tenths of a microsecond. */
function medianCpu(measures: readonly Measure[]): CpuPerOperation {
  const runs = measures.flatMap(({ cpu }) => (cpu === undefined ? [] : [perOperation(cpu)]));
  const figures = CPU_FIGURES.flatMap((figure) => {
    const values = runs.flatMap((run) => (run[figure] === undefined ? [] : [run[figure]]));
    return values.length === 0 ? [] : [[figure, Math.round(median(values) * 10) / 10]];
  });
  return Object.fromEntries(figures) as CpuPerOperation;
}

function medianAllocated(measures: readonly Measure[]): Pick<Row, 'allocatedKiB'> {
  const values = measures.flatMap(({ allocatedBytes }) => (allocatedBytes === undefined ? [] : [allocatedBytes]));
  return values.length === 0 ? {} : { allocatedKiB: kibOf(median(values)) };
}

function profilesOf(measures: readonly Measure[]): Pick<Row, 'profiles'> {
  const profiles = measures.flatMap((measure) => measure.profiles ?? []);
  return profiles.length === 0 ? {} : { profiles };
}

export function summarise(section: string, subject: string, measures: readonly Measure[], rssMiB: number): Row {
  return {
    section,
    subject,
    perSecond: Math.round(median(measures.map((measure) => measure.perSecond))),
    p50Ms: median(measures.map((measure) => measure.p50Ms)),
    p99Ms: median(measures.map((measure) => measure.p99Ms)),
    errors: measures.reduce((sum, measure) => sum + measure.errors, 0),
    rssMiB,
    ...medianAllocated(measures),
    ...profilesOf(measures),
    ...(measures.some(({ cpu }) => cpu !== undefined) ? { cpuMicros: medianCpu(measures) } : {}),
  };
}

export const ratioOf = (over: Row, under: Row): number => Math.round((over.perSecond / under.perSecond) * 100) / 100;

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Rows without a measured process are left out. */
function cpuTable(rows: readonly Row[]): string {
  const measured = rows.filter(({ cpuMicros }) => cpuMicros !== undefined);
  if (measured.length === 0) return '';
  const figures = CPU_FIGURES.filter((figure) => measured.some(({ cpuMicros }) => cpuMicros?.[figure] !== undefined));
  const cells = ({ section, subject, cpuMicros }: Row): string[] => [
    section,
    subject,
    ...figures.map((figure) => cpuMicros?.[figure]?.toFixed(1) ?? '-'),
  ];
  return table(['section', 'CPU µs per operation', ...figures], measured.map(cells));
}

function measureTable(rows: readonly Row[]): string {
  return table(
    ['section', 'subject', 'per second', 'p50 ms', 'p99 ms', 'errors', 'RSS MiB', 'allocated KiB per operation'],
    rows.map((row) => [
      row.section,
      row.subject,
      String(row.perSecond),
      String(row.p50Ms),
      String(row.p99Ms),
      String(row.errors),
      String(row.rssMiB),
      row.allocatedKiB?.toFixed(1) ?? '-',
    ]),
  );
}

export function render(rows: readonly Row[], ratios: readonly Ratio[]): string {
  const compared = table(
    ['section', 'ratio', 'measured', 'reach for'],
    ratios.map((ratio) => [ratio.section, ratio.name, String(ratio.value), ratio.reachFor]),
  );
  return [measureTable(rows), cpuTable(rows), compared].filter((text) => text !== '').join('\n\n');
}
