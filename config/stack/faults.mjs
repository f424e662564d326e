#!/usr/bin/env node
// `npm run faults [-- --seed N] [--minutes N | --sessions N] [--users N] [--previous COMMIT]`: random faults from a seed, on private
// stores, and a check of every promise. The same seed gives the same faults and users; their times depend on the machine. With
// `--previous`, processes also change between the build of that commit and the present one. `npm run faults -- --failover`: a cluster
// of PostgreSQL changes its primary instead, in three ways.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildCommit, removeWorktree } from './build-commit.mjs';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';

const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const CAMPAIGN = 'test/faults/campaign.spec.ts';
const FAILOVER = 'test/faults/failover.spec.ts';
const USAGE =
  'npm run faults [-- --failover | [--seed N] [--minutes N | --sessions N] [--users N] [--previous COMMIT]]';

const log = startLog('faults');
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopping.abort(new StartError(name)));

/** The file of the tests, the options as variables of the run, and the commit that processes change to. */
function runOf(words) {
  const text = { type: 'string' };
  const numbers = { seed: text, minutes: text, sessions: text, users: text };
  const options = { failover: { type: 'boolean' }, previous: text, ...numbers };
  try {
    const { failover, previous, ...values } = parseArgs({ args: words, options }).values;
    if (failover && (previous ?? Object.keys(values)[0]) !== undefined)
      throw new Error('--failover takes no other option');
    const wrong = Object.entries(values).find(([, value]) => !/^[1-9]\d{0,9}$/.test(value));
    if (wrong !== undefined) throw new Error(`--${wrong[0]} must be a positive integer, and is ${wrong[1]}`);
    if (values.minutes !== undefined && values.sessions !== undefined)
      throw new Error('--minutes and --sessions are one or the other');
    const variables = Object.entries(values).map(([name, value]) => [`CAMPAIGN_${name.toUpperCase()}`, value]);
    return failover
      ? { file: FAILOVER, variables: { FAILOVER: '1' } }
      : { file: CAMPAIGN, variables: Object.fromEntries(variables), previous };
  } catch (error) {
    throw new StartError(`${error.message}\n${USAGE}`);
  }
}

async function run() {
  const { file, variables, previous } = runOf(process.argv.slice(2));
  await prepare({ log, signal: stopping.signal });
  if (previous === undefined) return runTests(file, variables);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-previous-'));
  const worktree = path.join(folder, 'worktree');
  try {
    const { dist } = await buildCommit({ commit: previous, folder: worktree, log, signal: stopping.signal });
    return await runTests(file, { ...variables, CAMPAIGN_PREVIOUS: dist });
  } finally {
    removeWorktree(worktree);
    rmSync(folder, { recursive: true, force: true });
  }
}

function runTests(file, variables) {
  const args = [VITEST, 'run', '-c', 'config/tooling/vitest.config.ts', '--project', 'faults', file];
  return runCommand(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...variables },
    signal: stopping.signal,
  });
}

run().then(
  (code) => (process.exitCode = code),
  (error) => {
    log(faultText(error));
    process.exitCode = 1;
  },
);
