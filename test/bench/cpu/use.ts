/** The kinds of process whose CPU time is reported, in the order of the report. */
export const ROLES = ['control plane', 'gateway', 'baseline', 'PostgreSQL', 'Redis', 'load generator'] as const;
export type Role = (typeof ROLES)[number];

/** A process that is measured together with its descendants, living and ended. */
export interface MeteredProcess {
  readonly role: Role;
  readonly pid: number;
  /** The port of its agent (../probe/agent.ts); absent where it has none. */
  readonly probePort?: number;
}

/** The same processes, of which CPU time alone is measured. */
export const withoutProbes = (processes: readonly MeteredProcess[]): MeteredProcess[] =>
  processes.map(({ role, pid }) => ({ role, pid }));

/** CPU time by role, user and system, in microseconds. A role that was not measured is absent. */
export type CpuMicros = Readonly<Partial<Record<Role, number>>>;

/** CPU time of a window and the operations that were answered in the same window. */
export interface CpuUse {
  readonly operations: number;
  readonly micros: CpuMicros;
}

const TOTALS = ['total without load', 'total'] as const;
export const CPU_FIGURES = [...ROLES, ...TOTALS] as const;
type CpuFigure = (typeof CPU_FIGURES)[number];

/** CPU microseconds per operation. */
export type CpuPerOperation = Readonly<Partial<Record<CpuFigure, number>>>;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** Adds what two sources measured of one window; a role that both have counts both. */
export function addMicros(one: CpuMicros, other: CpuMicros): CpuMicros {
  const roles = ROLES.filter((role) => one[role] !== undefined || other[role] !== undefined);
  return Object.fromEntries(roles.map((role) => [role, (one[role] ?? 0) + (other[role] ?? 0)]));
}

/** Per operation, with both totals; nothing without operations. The second total needs the load generator's figure. */
export function perOperation({ operations, micros }: CpuUse): CpuPerOperation {
  const measured = ROLES.flatMap((role) => (micros[role] === undefined ? [] : [{ role, micros: micros[role] }]));
  if (operations === 0 || measured.length === 0) return {};
  const ofRoles = measured.map(({ role, micros: value }) => [role, value / operations] as const);
  const withoutLoad = sum(ofRoles.flatMap(([role, value]) => (role === 'load generator' ? [] : [value])));
  const load = micros['load generator'];
  return {
    ...Object.fromEntries(ofRoles),
    'total without load': withoutLoad,
    ...(load === undefined ? {} : { total: withoutLoad + load / operations }),
  };
}
