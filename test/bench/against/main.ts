import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { runEnvironment } from '../environment.js';
import { type Builds, runPairs } from './pairs.js';
import { type Build, thawAll } from './side.js';
import { compare, type FigureRow, type Pair, renderComparison } from './summary.js';

/** Written by the launcher (config/stack/bench.mjs). */
interface Task {
  readonly sections: readonly string[];
  readonly pairs: number;
  /** The commit, then the working tree. */
  readonly sides: readonly [Build, Build];
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // Stopped processes would not see that this one has ended.
    thawAll();
    process.exit(1);
  });
}

const { sections, pairs, sides } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Task;
const builds: Builds = { commit: sides[0], tree: sides[1] };
const masterKey = randomBytes(32);
const environment = runEnvironment(masterKey, {});
const rows: FigureRow[] = [];
const done: { readonly section: string; readonly pairs: readonly Pair[] }[] = [];
for (const section of sections) {
  const measured = await runPairs(section, pairs, builds, { masterKey, environment });
  done.push({ section, pairs: measured });
  rows.push(...compare(section, measured));
}
const names = { base: builds.commit.name, compared: builds.tree.name };
const machine = {
  cores: os.cpus().length,
  cpu: os.cpus()[0]?.model ?? 'unknown',
  node: process.version,
  queues: builds.tree.stores['REDIS_URL'] === undefined ? 'postgresql' : 'redis',
};
process.stdout.write(
  `\npairs: ${pairs}; ratio: ${names.compared} / ${names.base}, median of the pairs\n${renderComparison(names, rows)}\n\n`,
);
process.stdout.write(`${JSON.stringify({ machine, names, rows, pairs: done })}\n`);
