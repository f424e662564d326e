import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ensureCertificates } from '../stack/certificates.mjs';

const FILE = fileURLToPath(new URL('haproxy.cfg', import.meta.url));
const isInstalled = spawnSync('haproxy', ['-v']).status === 0;

describe('haproxy.cfg', () => {
  it.skipIf(!isInstalled)('is accepted by HAProxy (skipped where haproxy is not on PATH)', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-haproxy-'));
    try {
      const { certFile, keyFile } = await ensureCertificates({ dataDir: folder, hosts: ['x'], log: () => undefined });
      copyFileSync(certFile, path.join(folder, 'tls.crt'));
      copyFileSync(keyFile, path.join(folder, 'tls.key'));
      const copy = path.join(folder, 'haproxy.cfg');
      writeFileSync(copy, readFileSync(FILE, 'utf8').replaceAll('/run/secrets/', `${folder}/`));
      const env = { ...process.env, PUBLIC_BASE_URL: 'https://verify.example.com' };
      expect(execFileSync('haproxy', ['-c', '-f', copy], { env, encoding: 'utf8' })).toContain('valid');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('sets HSTS and nosniff on every response, its own refusals included', () => {
    const config = readFileSync(FILE, 'utf8');
    // http-response rules are not run for responses that HAProxy makes itself.
    expect(config).toMatch(/^ {2}http-after-response set-header Strict-Transport-Security "max-age=31536000"$/m);
    expect(config).toMatch(/^ {2}http-after-response set-header X-Content-Type-Options nosniff$/m);
  });

  it('limits webhook requests before their bodies are read, and buffers bodies itself', () => {
    const config = readFileSync(FILE, 'utf8');
    const gateways = config.slice(config.indexOf('\nbackend gateways'));
    expect(gateways).toContain('option http-buffer-request');
    expect(gateways).toContain('maxconn 100 ');
    expect(config).toMatch(/http-request deny deny_status 429 .*sc_http_err_rate/);
    expect(config).toMatch(/http-request deny deny_status 413 .*content-length/);
  });
});
