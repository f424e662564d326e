import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ensureCertificates } from './certificates.mjs';

const DAY_MS = 86_400_000;
const HOSTS = ['localhost', '127.0.0.1', '::1'];
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-certificates-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const ensure = (hosts = HOSTS, nowMs = Date.now()) =>
  ensureCertificates({ dataDir, hosts, nowMs, log: () => undefined });
const read = (file: string): X509Certificate => new X509Certificate(readFileSync(file));

it('writes a server certificate for every host, signed by an authority that may sign nothing else than leaves', async () => {
  const { caFile, certFile, keyFile } = await ensure();
  const [authority, server] = [read(caFile), read(certFile)];
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.checkIssued(authority)).toBe(true);
  expect([authority.ca, server.ca]).toEqual([true, false]);
  expect(server.checkHost('localhost')).toBe('localhost');
  expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(server.checkIP('::1')).toBe('::1');
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(statSync(path.join(dataDir, 'ca.key')).mode & 0o777).toBe(0o600);
});

it('leaves valid files unchanged', async () => {
  const { certFile } = await ensure();
  const before = readFileSync(certFile, 'utf8');
  await ensure();
  expect(readFileSync(certFile, 'utf8')).toBe(before);
});

it('writes a new server certificate for a new host, under the same authority', async () => {
  const { caFile, certFile } = await ensure();
  const before = readFileSync(caFile, 'utf8');
  await ensure([...HOSTS, 'verify.example']);
  expect(readFileSync(caFile, 'utf8')).toBe(before);
  expect(read(certFile).checkHost('verify.example')).toBe('verify.example');
});

it('renews the server certificate a month before it ends, and one that was cut short at once', async () => {
  const { caFile, certFile } = await ensure();
  const first = read(certFile);
  const inTime = Date.parse(first.validTo) - 31 * DAY_MS;
  await ensure(HOSTS, inTime);
  expect(read(certFile).serialNumber).toBe(first.serialNumber);
  await ensure(HOSTS, inTime + 2 * DAY_MS);
  expect(Date.parse(read(certFile).validTo)).toBeGreaterThan(Date.parse(first.validTo));

  writeFileSync(certFile, '-----BEGIN CERT');
  await ensure();
  expect(read(certFile).verify(read(caFile).publicKey)).toBe(true);
});
