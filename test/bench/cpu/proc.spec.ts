import { fork, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStat, type ProcessStat, readStats, treeMicros, treeOf } from './proc.js';

const LINE =
  '812 (postgres: (io) w 1) S 800 812 812 0 -1 4194368 2155 120 0 0 31 17 5 2 20 0 1 0 9133 1 2 3 4 5 6 7 8 9 10';

const stat = (pid: number, parent: number): ProcessStat => ({
  pid,
  parent,
  ownTicks: 1,
  endedChildrenTicks: 0,
});

describe('parseStat', () => {
  it('reads past spaces and brackets of the command name', () => {
    expect(parseStat(LINE)).toEqual({ pid: 812, parent: 800, ownTicks: 48, endedChildrenTicks: 7 });
  });

  it('answers null for a line that is cut off before its last field, and for any other text', () => {
    expect(parseStat(LINE.slice(0, 70))).toBeNull();
    expect(parseStat('')).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseStat(text);
        expect(parsed === null || Number.isSafeInteger(parsed.ownTicks)).toBe(true);
      }),
    );
  });
});

describe('treeOf', () => {
  it('takes the root and all below it, and no sibling', () => {
    const stats = [stat(5, 1), stat(3, 2), stat(2, 1), stat(4, 3), stat(6, 5)];
    expect(treeOf(2, stats).map(({ pid }) => pid)).toEqual([2, 3, 4]);
    expect(treeOf(9, stats)).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('treeMicros', () => {
  it('keeps the CPU time of a child that has ended', () => {
    const before = treeMicros(process.pid, readStats());
    const burnt = spawnSync(process.execPath, [
      '-e',
      'while (process.cpuUsage().user < 300_000); process.stdout.write(String(process.cpuUsage().user))',
    ]);
    const after = treeMicros(process.pid, readStats());
    expect(after - before).toBeGreaterThan(Number(burnt.stdout.toString()) * 0.9);
  });

  it('counts what a living child counts of itself', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-proc-'));
    const script = path.join(folder, 'burn.cjs');
    writeFileSync(
      script,
      `while (process.cpuUsage().user < 300_000);
       const { user, system } = process.cpuUsage();
       process.send(user + system);`,
    );
    const child = fork(script);
    const own = await new Promise<number>((resolve) => child.once('message', resolve));
    const counted = treeMicros(child.pid ?? 0, readStats());
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await gone;
    rmSync(folder, { recursive: true });
    // Both counters of the process are rounded down to 10 ms.
    expect(counted).toBeGreaterThan(own - 40_000);
  });

  it('throws when the process has ended', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    expect(() => treeMicros(pid, readStats())).toThrow(/has ended/);
  });
});
