#!/usr/bin/env node
// `npm run faults [-- --seed N] [--minutes N | --sessions N] [--users N]`: random faults from a seed, on private stores, and a check of
// every promise. The same seed gives the same faults and users; their times depend on the machine.
import path from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';

const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const CAMPAIGN = 'test/faults/campaign.spec.ts';
const USAGE = 'npm run faults [-- --seed N] [--minutes N | --sessions N] [--users N]';

const log = startLog('faults');
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopping.abort(new StartError(name)));

/** The options as variables of the run. */
function variablesOf(words) {
  const text = { type: 'string' };
  try {
    const { values } = parseArgs({ args: words, options: { seed: text, minutes: text, sessions: text, users: text } });
    const wrong = Object.entries(values).find(([, value]) => !/^[1-9]\d{0,9}$/.test(value));
    if (wrong !== undefined) throw new Error(`--${wrong[0]} must be a positive integer, and is ${wrong[1]}`);
    if (values.minutes !== undefined && values.sessions !== undefined)
      throw new Error('--minutes and --sessions are one or the other');
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [`CAMPAIGN_${name.toUpperCase()}`, value]));
  } catch (error) {
    throw new StartError(`${error.message}\n${USAGE}`);
  }
}

async function run() {
  const variables = variablesOf(process.argv.slice(2));
  const { signal } = stopping;
  await prepare({ log, signal });
  const args = [VITEST, 'run', '-c', 'config/tooling/vitest.config.ts', '--project', 'faults', CAMPAIGN];
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
