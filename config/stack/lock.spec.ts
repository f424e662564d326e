import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { takeLock } from './lock.mjs';
import { identify } from './processes.mjs';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-lock-'));
  file = path.join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const holder = (): unknown => (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid;

it('is taken once, names its holder, and is free again when it is released', () => {
  const lock = takeLock(file);
  expect(holder()).toBe(process.pid);
  expect(takeLock(file).heldBy).toBe(process.pid);
  lock.release?.();
  expect(takeLock(file).heldBy).toBeUndefined();
});

it('is taken over from a process that is gone', () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(file, JSON.stringify({ pid, mark: 'whenever' }));
  expect(takeLock(file).heldBy).toBeUndefined();
  expect(holder()).toBe(process.pid);
});

it('is taken over when the id of its holder now belongs to another process', () => {
  writeFileSync(file, JSON.stringify({ ...identify(process.pid), mark: 'an earlier boot/1' }));
  expect(takeLock(file).heldBy).toBeUndefined();
});

it('is left to a holder that is writing its name, and taken from one that died doing so', () => {
  writeFileSync(file, '{"pid":');
  expect(takeLock(file).heldBy).toBe(0);
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(file, longAgo, longAgo);
  expect(takeLock(file).heldBy).toBeUndefined();
});

it('is not released by a former holder', () => {
  const lock = takeLock(file);
  const other = JSON.stringify({ pid: 1, mark: 'x' });
  writeFileSync(file, other);
  lock.release?.();
  expect(readFileSync(file, 'utf8')).toBe(other);
});
