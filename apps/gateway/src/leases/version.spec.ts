import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GATEWAY_VERSION, versionAbove } from './version.js';

describe('the version of a gateway', () => {
  it('is the version of the product', () => {
    expect(GATEWAY_VERSION).toMatch(/^\d+\.\d+\.\d+/);
  });

  it('is unknown without a package.json', () => {
    expect(versionAbove(path.parse(process.cwd()).root)).toBe('unknown');
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-version-'));
    writeFileSync(path.join(folder, 'package.json'), '{"version":7}');
    expect(versionAbove(path.join(folder, 'deeper'))).toBe('unknown');
    rmSync(folder, { recursive: true });
  });
});
