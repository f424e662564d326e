#!/usr/bin/env node
// `npm run bench [section …]`: private stores, a build, then ratios between the product and its baselines.
// `npm run bench -- --profile <section>`: the same with CPU profiles of the product's processes.
// `npm run bench -- --against <commit> [section …]`: the same for two builds of the product, in pairs.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseBenchArguments } from './bench-arguments.mjs';
import { buildCommit, removeWorktree } from './build-commit.mjs';
import { endLeftOvers } from './bench-processes.mjs';
import { ensureCertificates } from './certificates.mjs';
import { writePrivate } from './files.mjs';
import { createLifecycle } from './lifecycle.mjs';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';
import { startStores } from './stores.mjs';

const NEST = path.join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js');
const DIST = path.join(ROOT, 'dist');

const log = startLog('bench');
const lifecycle = createLifecycle(log);
lifecycle.watch();

function temporaryFolder() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-bench-'));
  lifecycle.onStop('last', async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function build() {
  const { signal } = lifecycle;
  await prepare({ log, signal });
  const built = await runCommand(process.execPath, [NEST, 'build', 'bench'], { cwd: ROOT, signal });
  if (built !== 0) throw new StartError(`the build of the bench failed (exit code ${built}): see the errors above`);
}

/** Stores as variables for the processes of the bench. */
async function storesIn(dataDir, env) {
  const stores = await startStores({ env, dataDir, lifecycle, log });
  const { databaseUrl, superuserUrl, redisUrl, queues, postgresPid, redisPid } = stores;
  const variables = {
    // The bench creates databases, and earlier builds migrate with the role of their daemons.
    DATABASE_URL: superuserUrl ?? databaseUrl,
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    ...(postgresPid === undefined ? {} : { BENCH_POSTGRES_PID: String(postgresPid) }),
    ...(redisPid === undefined ? {} : { BENCH_REDIS_PID: String(redisPid) }),
  };
  return { queues, variables };
}

/** Runs a script of the bench; processes that it leaves are ended before the stores are. */
async function runBench({ script, args, variables, dataDir, builds }) {
  const certificates = await ensureCertificates({ dataDir, hosts: ['127.0.0.1'], log });
  const processFile = path.join(dataDir, 'processes');
  const env = {
    ...process.env,
    ...variables,
    TLS_CERT_FILE: certificates.certFile,
    TLS_KEY_FILE: certificates.keyFile,
    TLS_CA_FILE: certificates.caFile,
    BENCH_PROCESS_FILE: processFile,
  };
  const { signal } = lifecycle;
  const main = path.join(DIST, 'test/bench', script);
  const running = runCommand(process.execPath, [main, ...args], { cwd: ROOT, env, signal, stdio: ['ignore', 1, 2] });
  const ended = running.catch(() => undefined);
  lifecycle.onStop('apps', () => ended.then(() => endLeftOvers(processFile, builds)));
  return running;
}

/** A new folder for the profiles of a run; git ignores it. */
function profileFolder() {
  const folder = path.join(ROOT, 'profiles', new Date().toISOString().replaceAll(/[:.]/g, '-'));
  return { BENCH_PROFILE: folder };
}

async function runSections({ sections, profile }) {
  const dataDir = temporaryFolder();
  const { queues, variables } = await storesIn(dataDir, process.env);
  log(`queues: ${queues}`);
  const own = { ...variables, ...(profile ? profileFolder() : {}) };
  // Kannel runs from the data directory.
  return runBench({ script: 'main.js', args: sections, variables: own, dataDir, builds: [DIST, dataDir] });
}

/** Each build has servers of its own, so that the builds share no cache, lock, notification or checkpoint. */
async function compare({ sections, against, pairs }) {
  const dataDir = temporaryFolder();
  const folder = path.join(dataDir, 'commit');
  lifecycle.onStop('last', async () => removeWorktree(folder));
  const { signal } = lifecycle;
  const building = buildCommit({ commit: against, folder, log, signal });
  const commit = await lifecycle.during('apps', building);
  // Servers named by the user would be shared by both builds; without Redis means without Redis for both.
  const env = { ...process.env, DATABASE_URL: '', REDIS_URL: process.env.REDIS_URL === '' ? '' : undefined };
  const sides = [];
  for (const side of [commit, { name: 'working tree', dist: DIST }]) {
    const { queues, variables } = await storesIn(temporaryFolder(), env);
    log(`${side.name}: queues: ${queues}`);
    sides.push({ ...side, stores: variables });
  }
  const taskFile = path.join(dataDir, 'task.json');
  writePrivate(taskFile, JSON.stringify({ sections, pairs, sides }));
  const builds = sides.map(({ dist }) => dist);
  return runBench({ script: 'against/main.js', args: [taskFile], variables: {}, dataDir, builds });
}

async function run() {
  const options = parseBenchArguments(process.argv.slice(2));
  await build();
  return options.against === undefined ? runSections(options) : compare(options);
}

run().then(
  (code) => lifecycle.stop(code, code === 0 ? 'done' : 'the bench failed: see the errors above'),
  (error) => lifecycle.stop(1, faultText(error)),
);
