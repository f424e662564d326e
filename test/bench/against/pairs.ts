import { type Measure, summary } from '../report.js';
import type { Environment } from '../subjects.js';
import { warmUp } from '../warm-up.js';
import { openSection, type Section } from './sections.js';
import { atTurn, type Build, type Side, startSide } from './side.js';
import type { Pair } from './summary.js';

export interface Builds {
  readonly commit: Build;
  readonly tree: Build;
}

type Which = keyof Builds;

/**
 * Pairs after which both builds are restarted on empty databases: two processes of one build differ by a few per cent
 * throughout their life, and rows of one pair are swept during a later one.
 */
const PAIRS_PER_START = 5;

/** The builds alternate in running first, so that neither always follows the other. */
export const orderOf = (pair: number): readonly [Which, Which] =>
  pair % 2 === 0 ? ['commit', 'tree'] : ['tree', 'commit'];

/** Splits pairs into groups whose sizes differ by one at most. */
export function groupsOf(pairs: number): number[] {
  const count = Math.ceil(pairs / PAIRS_PER_START);
  return Array.from({ length: count }, (_, at) => Math.floor(pairs / count) + (at < pairs % count ? 1 : 0));
}

interface Run {
  readonly name: string;
  readonly section: Section;
  readonly builds: Builds;
  readonly masterKey: Buffer;
}

async function measured({ name, section }: Run, side: Side, words: string): Promise<Measure> {
  const measure = await atTurn(side, () => section.run(side));
  if (measure.errors > 0) throw new Error(`${name}, ${side.name}: ${measure.errors} requests failed`);
  process.stderr.write(`${name} ${words} ${side.name}: ${summary(measure)}\n`);
  return measure;
}

async function started({ name, section, builds, masterKey }: Run, which: Which): Promise<Side> {
  const needs = { gateway: section.needsGateway, extra: section.environment };
  const side = await startSide(builds[which], masterKey, needs);
  await atTurn(side, async () => {
    await warmUp(`${name} ${side.name}`, () => section.run(side));
  });
  return side;
}

async function group(run: Run, from: number, count: number, all: number): Promise<Pair[]> {
  const sides = new Map<Which, Side>();
  try {
    for (const which of orderOf(from)) sides.set(which, await started(run, which));
    const pairs: Pair[] = [];
    for (let at = from; at < from + count; at += 1) {
      const measures = new Map<Which, Measure>();
      for (const which of orderOf(at)) {
        const side = sides.get(which);
        if (side !== undefined) measures.set(which, await measured(run, side, `${at + 1}/${all}`));
      }
      const [base, compared] = [measures.get('commit'), measures.get('tree')];
      if (base !== undefined && compared !== undefined) pairs.push({ base, compared });
    }
    return pairs;
  } finally {
    await Promise.all([...sides.values()].map((side) => side.stop()));
  }
}

/** Runs one section in pairs; the other build's processes are stopped meanwhile. */
export async function runPairs(
  name: string,
  pairs: number,
  builds: Builds,
  { masterKey, environment }: { readonly masterKey: Buffer; readonly environment: Environment },
): Promise<Pair[]> {
  const section = await openSection(name, environment);
  try {
    const done: Pair[] = [];
    for (const count of groupsOf(pairs)) {
      done.push(...(await group({ name, section, builds, masterKey }, done.length, count, pairs)));
    }
    return done;
  } finally {
    await section.stop();
  }
}
