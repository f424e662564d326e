import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withSecretFiles } from './secret-files.mjs';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-secret-'));
  file = path.join(folder, 'key');
  writeFileSync(file, 'value\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('secrets of npm start', () => {
  it('may be given by files', () => {
    expect(withSecretFiles({ COUNTERSIGN_ADMIN_KEY_FILE: file, TLS_KEY_FILE: file })).toEqual({
      COUNTERSIGN_ADMIN_KEY: 'value',
      TLS_KEY_FILE: file,
    });
  });

  it('may not be given both ways, nor by a file that is not there', () => {
    expect(() => withSecretFiles({ REDIS_URL: 'x', REDIS_URL_FILE: file })).toThrow(/REDIS_URL_FILE: set one/);
    expect(() => withSecretFiles({ DATABASE_URL_FILE: '/nowhere' })).toThrow(/DATABASE_URL_FILE: cannot read/);
  });
});
