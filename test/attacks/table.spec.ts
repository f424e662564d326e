import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/stack.js';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const ATTACKS = Array.from({ length: 41 }, (_, at) => `A${at + 1}`);
const VERDICTS = ['defended', 'partly', 'not defended'];

interface Row {
  readonly attack: string;
  readonly verdict: string;
  readonly risk: string;
  readonly files: readonly string[];
}

/** The rows of the table of attacks in SECURITY.md: number, attack, verdict, how, remaining risk, test. */
const rows: readonly Row[] = readFileSync(path.join(ROOT, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| A\d+ /.test(line))
  .map((line) => {
    const [, attack = '', , verdict = '', , risk = '', test = ''] = line.split('|').map((cell) => cell.trim());
    const files = [...test.matchAll(/`(test\/[^`]+\.spec\.ts)`/g)].map(([, file = '']) => file);
    return { attack, verdict, risk, files };
  });

/** By attack: the files with a test whose title begins with its number; groups are not counted. */
const titles = new Map<string, Set<string>>();
for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.spec.ts') && file !== 'table.spec.ts')) {
  const tests = readFileSync(path.join(FOLDER, name), 'utf8').replaceAll(/\bdescribe\(\s*['"`]A/g, '');
  for (const [, attack = ''] of tests.matchAll(/\(\s*['"`](A\d+) /g)) {
    titles.set(attack, (titles.get(attack) ?? new Set()).add(`test/attacks/${name}`));
  }
}

describe('the table of attacks in SECURITY.md', () => {
  it('has a row for each of the 41, once and in order', () => {
    expect(rows.map(({ attack }) => attack)).toEqual(ATTACKS);
  });

  it.each(rows)('$attack has a verdict, and its remaining risk', ({ verdict, risk }) => {
    expect(VERDICTS).toContain(verdict);
    expect(risk).toMatch(/\w{3}/);
  });

  it.each(rows)('$attack names the file that has its test', ({ attack, files }) => {
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect([...(titles.get(attack) ?? [])]).toContain(file);
  });

  it('has a row for every attack that a test is titled with', () => {
    expect([...titles.keys()].filter((attack) => !rows.some((row) => row.attack === attack))).toEqual([]);
  });
});
