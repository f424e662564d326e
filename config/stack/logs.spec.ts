import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followLog } from './logs.mjs';

let folder: string;
let file: string;
let shown: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-logs-'));
  file = path.join(folder, 'app.log');
  writeFileSync(file, '');
  shown = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('shows warnings, errors and lines that are no log records, and leaves the rest in the file', () => {
  const end = followLog(file, (line) => shown.push(line));
  const records = [
    { level: 'info', msg: 'ready' },
    { level: 'warn', msg: 'slow' },
    { level: 'error', msg: 'no answer', err: { message: 'ECONNREFUSED' } },
  ];
  appendFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  appendFileSync(file, 'Segmentation fault\n\n');
  end();
  expect(shown).toEqual(['warn: slow', 'error: no answer: ECONNREFUSED', 'Segmentation fault']);
});

it('joins a line that was written in two parts', async () => {
  const end = followLog(file, (line) => shown.push(line));
  const octets = Buffer.from('naïve\n');
  appendFileSync(file, octets.subarray(0, 3));
  await expect.poll(() => statSync(file).size).toBe(3);
  appendFileSync(file, octets.subarray(3));
  end();
  expect(shown).toEqual(['naïve']);
});

it('begins the file anew when it has grown to its bound', () => {
  const end = followLog(file, () => undefined, 100);
  appendFileSync(file, `${'x'.repeat(200)}\n`);
  end();
  expect(readFileSync(file, 'utf8')).toBe('');
  expect(readFileSync(`${file}.old`, 'utf8')).toHaveLength(201);
});
