import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { rerunCommand } from './rerun.mjs';

const FILE = 'libs/ids/src/ids.spec.ts';

/** The arguments as a shell passes them on. */
const argumentsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command}`], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

describe('rerunCommand', () => {
  it.each(['a plain name', "an admin's $5 (50 %) [x] `id` \\d+ *?", 'a "quoted" name | and more'])(
    'names one test by a pattern that matches this test alone: %s',
    (name) => {
      const given = argumentsOf(rerunCommand('small', { file: FILE, name: `group > ${name}`, isTest: true }));
      expect(given.slice(0, 8)).toEqual([
        ...['npx', 'vitest', 'run', '-c', 'config/tooling/vitest.config.ts', '--project', 'small', FILE],
      ]);
      const pattern = new RegExp(given.at(-1) ?? '');
      expect(pattern.test(`group ${name}`)).toBe(true);
      expect(pattern.test(`group ${name} too`)).toBe(false);
    },
  );

  it('names the file where the whole file failed, and the kind where the run did', () => {
    expect(argumentsOf(rerunCommand('e2e', { file: FILE, name: 'the whole file' })).at(-1)).toBe(FILE);
    expect(argumentsOf(rerunCommand('e2e', { file: 'vitest', name: 'e2e' })).at(-1)).toBe('e2e');
  });
});
