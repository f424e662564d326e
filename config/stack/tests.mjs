// The steps of `npm test`, in order.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { REPORT_VARIABLE } from './count-reporter.mjs';
import { readJson } from './files.mjs';
import { PRIVATE_PORTS } from './ports.mjs';
import { prepare, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { faultText, startLog, StartError } from './progress.mjs';
import { findRedis, whyNoRedis } from './redis.mjs';
import { rerunCommand } from './rerun.mjs';

/**
 * Quick kinds first, so that mistakes show early. Kinds that mostly wait for timers run side by side: they share no
 * server. Faults run alone on the machine.
 */
const STAGES = [
  [['small']],
  [
    ['medium', 'fuzz'],
    ['contract', 'interop'],
    ['attacks', 'e2e'],
  ],
  [['faults']],
];
const KINDS = STAGES.flat(2);
/** Debian packages that the tests with other SMPP stacks, a browser and a pooler need, by the word in the tests' names. */
const PACKAGES = {
  Kannel: 'kannel',
  'Net::SMPP': 'libnet-smpp-perl',
  libsmpp34: 'libsmpp34-dev gcc libc6-dev',
  OsmoMSC: 'osmo-msc gcc libc6-dev',
  tshark: 'tshark',
  Chromium: 'chromium',
  PgBouncer: 'pgbouncer',
};
const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
const COUNTER = path.join(ROOT, 'config/stack/count-reporter.mjs');

const log = startLog('test');
const stopping = new AbortController();

async function runKind(kind, folder, ports) {
  log(`${kind} tests`);
  const report = path.join(folder, `${kind}.json`);
  const reporters = ['--reporter=default', `--reporter=${COUNTER}`];
  const code = await runCommand(
    process.execPath,
    [VITEST, 'run', '-c', 'config/tooling/vitest.config.ts', '--project', kind, '--passWithNoTests', ...reporters],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, STACK_PORT: String(ports), [REPORT_VARIABLE]: report },
      signal: stopping.signal,
    },
  );
  const count = readJson(report) ?? { passed: 0, failed: [], skipped: [] };
  // A run that crashed, or failed without a failed test, is a failure too.
  if (code !== 0 && count.failed.length === 0)
    count.failed.push({ file: 'vitest', name: kind, note: `ended with code ${code}` });
  return { ...count, failed: count.failed.map((failure) => ({ ...failure, kind })) };
}

/** Runs one kind after the other, with a hundred ports for its servers; adds their counts to `counts`. */
async function runGroup(kinds, folder, ports, counts) {
  for (const kind of kinds) {
    stopping.signal.throwIfAborted();
    counts.push(await runKind(kind, folder, ports));
  }
}

/** Repeats the failures at the end: in the output of a whole run they are far from the last line. */
function reportFailed(failed) {
  for (const failure of failed) {
    log(`failed: ${failure.name} (${failure.file}): ${failure.note}`);
    log(`  again, alone: ${rerunCommand(failure.kind, failure)}`);
  }
}

function reportSkipped(skipped) {
  if (skipped.length === 0) log('nothing was skipped');
  for (const { file, name, note } of skipped) log(`skipped: ${name} (${file}): ${note ?? usualReason(name)}`);
}

/** Tests that are skipped as a group have no note. */
function usualReason(name) {
  if (/redis/i.test(name) && findRedis() === undefined) return `${whyNoRedis()}; install one, or set REDIS_URL`;
  const wanted = Object.keys(PACKAGES).filter((stack) => name.includes(stack));
  if (wanted.length === 0) return 'its file says why';
  return `needs ${wanted.join(' and ')}: apt-get install ${wanted.map((stack) => PACKAGES[stack]).join(' ')}`;
}

async function runKinds(asked) {
  const unknown = asked.find((kind) => !KINDS.includes(kind));
  if (unknown !== undefined)
    throw new StartError(`no kind of test is called "${unknown}": there are ${KINDS.join(', ')}`);
  await prepare({ log, signal: stopping.signal });
  const folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-test-'));
  const counts = [];
  try {
    // Two concurrent searches for a free port must not find the same port.
    const firstPort = Number(process.env.STACK_PORT ?? PRIVATE_PORTS.from);
    const isAsked = (kind) => asked.length === 0 || asked.includes(kind);
    for (const groups of STAGES) {
      await Promise.all(
        groups.map((group, index) =>
          runGroup(group.filter(isAsked), folder, firstPort + index * PRIVATE_PORTS.count, counts),
        ),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = counts.flatMap((count) => count.failed);
  reportSkipped(counts.flatMap(({ skipped }) => skipped));
  reportFailed(failed);
  return { passed: counts.reduce((total, { passed }) => total + passed, 0), failed: failed.length };
}

/** Runs those kinds (all if none is named), prints the count as its last line and sets the exit code. */
export async function runTests(asked) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => stopping.abort(new StartError(name)));
  const { passed, failed } = await runKinds(asked).catch((error) => {
    log(faultText(error));
    return { passed: 0, failed: 1 };
  });
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}
