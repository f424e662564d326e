import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Role } from '../cpu/use.js';
import { type Profiled, type Row, table } from '../report.js';
import { type CpuProfile, mergedCalls } from './cpu-profile.js';
import { renderFlameGraph } from './flame-graph.js';
import { phasesOf } from './phases.js';

/** Smaller modules are one line of the table. */
const LEAST_PERCENT = 0.5;

interface Kind {
  readonly role: Role;
  readonly profiles: readonly CpuProfile[];
  /** The sum over all runs. */
  readonly operations: number;
}

/** The runs of a row by kind of process: a verification has a control plane and a gateway. */
function kindsOf(runs: readonly Profiled[]): Kind[] {
  return [...new Set(runs.map(({ role }) => role))].map((role) => {
    const own = runs.filter((run) => run.role === role);
    return {
      role,
      profiles: own.map(({ profile }) => profile),
      operations: own.reduce((all, { operations }) => all + operations, 0),
    };
  });
}

const fileNameOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

function writeKind(folder: string, title: string, { profiles, operations }: Kind): string {
  const name = path.join(folder, fileNameOf(title));
  for (const [at, profile] of profiles.entries())
    writeFileSync(`${name}-${at + 1}.cpuprofile`, JSON.stringify(profile));
  const calls = mergedCalls(profiles);
  writeFileSync(`${name}.svg`, renderFlameGraph(title, calls, operations));
  const phases = phasesOf(calls, operations, LEAST_PERCENT);
  const lines = phases.map(({ module, percent, microsPerOperation }) => [
    module,
    percent.toFixed(1),
    microsPerOperation.toFixed(2),
  ]);
  return `${title}: ${name}.svg, ${profiles.length} × .cpuprofile\n${table(['self time', 'percent', 'µs per operation'], lines)}`;
}

/**
 * Writes the profiles of every row that has some into a folder: for each round what Chrome's DevTools opens, and one flame
 * graph of all rounds. Returns a table of phases for each.
 */
export function writeProfiles(folder: string, rows: readonly Row[]): string {
  mkdirSync(folder, { recursive: true });
  const texts = rows.flatMap(({ section, subject, profiles = [] }) =>
    kindsOf(profiles).map((kind) => writeKind(folder, `${section}, ${subject}, ${kind.role}`, kind)),
  );
  return texts.join('\n\n');
}
