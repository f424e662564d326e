#!/usr/bin/env node
// `npm run bench [section …]`: private stores, a build, then ratios between the product and its baselines.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ensureCertificates } from './certificates.mjs';
import { createLifecycle } from './lifecycle.mjs';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';
import { startStores } from './stores.mjs';

const NEST = path.join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
const MAIN = path.join(ROOT, 'dist/test/bench/main.js');

const log = startLog('bench');
const lifecycle = createLifecycle(log);
lifecycle.watch();

async function run() {
  const { signal } = lifecycle;
  await prepare({ log, signal });
  const built = await runCommand(process.execPath, [NEST, 'build', 'bench'], { cwd: ROOT, signal });
  if (built !== 0) throw new StartError(`the build of the bench failed (exit code ${built}): see the errors above`);

  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'countersign-bench-'));
  lifecycle.onStop('last', async () => rmSync(dataDir, { recursive: true, force: true }));
  const [stores, certificates] = await Promise.all([
    startStores({ env: process.env, dataDir, lifecycle, log }),
    ensureCertificates({ dataDir, hosts: ['127.0.0.1'], log }),
  ]);
  log(`queues: ${stores.queues}`);
  const { databaseUrl, redisUrl, postgresPid, redisPid } = stores;
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TLS_CERT_FILE: certificates.certFile,
    TLS_KEY_FILE: certificates.keyFile,
    TLS_CA_FILE: certificates.caFile,
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    ...(postgresPid === undefined ? {} : { BENCH_POSTGRES_PID: String(postgresPid) }),
    ...(redisPid === undefined ? {} : { BENCH_REDIS_PID: String(redisPid) }),
  };
  const sections = process.argv.slice(2);
  return runCommand(process.execPath, [MAIN, ...sections], { cwd: ROOT, env, signal, stdio: ['ignore', 1, 2] });
}

run().then(
  (code) => lifecycle.stop(code, 'done'),
  (error) => lifecycle.stop(1, faultText(error)),
);
