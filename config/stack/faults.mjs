#!/usr/bin/env node
// `npm run faults [-- --seed N] [--minutes N | --sessions N] [--users N]`: random faults from a seed, on private stores, and a check of
// every promise. The same seed gives the same faults and users; their times depend on the machine. `npm run faults -- --failover`:
// a cluster of PostgreSQL changes its primary instead, in three ways.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';

const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const CAMPAIGN = 'test/faults/campaign.spec.ts';
const FAILOVER = 'test/faults/failover.spec.ts';
const USAGE = 'npm run faults [-- --failover | [--seed N] [--minutes N | --sessions N] [--users N]]';

const log = startLog('faults');
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopping.abort(new StartError(name)));

/** The file of the tests, and the options as variables of the run. */
function runOf(words) {
  const text = { type: 'string' };
  const options = { failover: { type: 'boolean' }, seed: text, minutes: text, sessions: text, users: text };
  try {
    const { failover, ...values } = parseArgs({ args: words, options }).values;
    if (failover && Object.keys(values).length > 0) throw new Error('--failover takes no other option');
    const wrong = Object.entries(values).find(([, value]) => !/^[1-9]\d{0,9}$/.test(value));
    if (wrong !== undefined) throw new Error(`--${wrong[0]} must be a positive integer, and is ${wrong[1]}`);
    if (values.minutes !== undefined && values.sessions !== undefined)
      throw new Error('--minutes and --sessions are one or the other');
    const variables = Object.entries(values).map(([name, value]) => [`CAMPAIGN_${name.toUpperCase()}`, value]);
    return failover
      ? { file: FAILOVER, variables: { FAILOVER: '1' } }
      : { file: CAMPAIGN, variables: Object.fromEntries(variables) };
  } catch (error) {
    throw new StartError(`${error.message}\n${USAGE}`);
  }
}

async function run() {
  const { file, variables } = runOf(process.argv.slice(2));
  const { signal } = stopping;
  await prepare({ log, signal });
  const args = [VITEST, 'run', '-c', 'config/tooling/vitest.config.ts', '--project', 'faults', file];
  return runCommand(process.execPath, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...variables },
    signal,
  });
}

run().then(
  (code) => (process.exitCode = code),
  (error) => {
    log(faultText(error));
    process.exitCode = 1;
  },
);
