import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMS_OF_SECRETS, piecesOf, randomOctets } from '../../libs/settings/src/misplaced-secrets.fixture.js';
import { withSecretFiles } from './secret-files.mjs';

let folder: string;
let file: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-secret-'));
  file = path.join(folder, 'key');
  writeFileSync(file, 'value\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const misplacedSecrets = fc
  .tuple(fc.constantFrom(...FORMS_OF_SECRETS), fc.integer(), fc.integer({ min: 24, max: 64 }))
  .map(([write, seed, length]) => write(randomOctets(seed, length)));

describe('secrets of npm start', () => {
  it('may be given by files', () => {
    expect(withSecretFiles({ COUNTERSIGN_ADMIN_KEY_FILE: file, TLS_KEY_FILE: file })).toEqual({
      COUNTERSIGN_ADMIN_KEY: 'value',
      TLS_KEY_FILE: file,
    });
  });

  it('may not be given both ways, nor by a file that is not there', () => {
    expect(() => withSecretFiles({ REDIS_URL: 'x', REDIS_URL_FILE: file })).toThrow(/REDIS_URL_FILE: set one/);
    expect(() => withSecretFiles({ DATABASE_URL_FILE: '/nowhere' })).toThrow(
      /DATABASE_URL_FILE: cannot read \/nowhere \(ENOENT\)/,
    );
  });

  it('are not shown when they stand where the path of their file belongs', () => {
    fc.assert(
      fc.property(misplacedSecrets, (secret) => {
        let message = '';
        try {
          withSecretFiles({ REDIS_URL_FILE: secret });
        } catch (error) {
          message = String(error);
        }
        expect(message).toMatch(/REDIS_URL_FILE: .*not shown.*Allowed: the path of a file/);
        expect(piecesOf(secret).filter((piece) => message.includes(piece))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});
