import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPrivateKey } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureServiceAccount } from './service-account.mjs';

let dataDir: string;
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;

beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-account-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

// The time to find an RSA key varies.
describe('the service account of a development run', { timeout: 60_000 }, () => {
  it('is a key file of its owner alone, with what a client of Google reads', async () => {
    const file = await ensureServiceAccount({ dataDir, tokenUri: 'http://127.0.0.1:8090/token' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const account = read(file);
    expect(account).toMatchObject({ type: 'service_account', token_uri: 'http://127.0.0.1:8090/token' });
    expect(createPrivateKey(account['private_key'] ?? '').asymmetricKeyDetails?.modulusLength).toBe(2048);
    expect(account['client_email']).toMatch(/^[^@]+@[^@]+$/);
    expect(account['private_key_id']).toMatch(/^[0-9a-f]{40}$/);
  });

  it('keeps its key when the simulator moves', async () => {
    const before = read(await ensureServiceAccount({ dataDir, tokenUri: 'http://127.0.0.1:8090/token' }));
    const after = read(await ensureServiceAccount({ dataDir, tokenUri: 'http://127.0.0.1:9090/token' }));
    expect(after).toEqual({ ...before, token_uri: 'http://127.0.0.1:9090/token' });
  });

  it.each(['', '{', '{}', '{"private_key":"none","token_uri":"http://x/token"}', '[]', 'null'])(
    'is made anew when its file holds %j',
    async (text) => {
      writeFileSync(path.join(dataDir, 'rbm-service-account.json'), text);
      const account = read(await ensureServiceAccount({ dataDir, tokenUri: 'http://x/token' }));
      expect(account['private_key']).toContain('BEGIN PRIVATE KEY');
    },
  );
});
