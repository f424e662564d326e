// Installs the packages and the build that a fresh clone lacks. Imports only node's own modules.
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson, writePrivate } from './files.mjs';
import { takeLock } from './lock.mjs';
import { identify, runCommand, stillRuns } from './processes.mjs';
import { StartError, stillWorking } from './progress.mjs';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const inRoot = (...parts) => path.join(ROOT, ...parts);
const LOCK_FILE = inRoot('package-lock.json');
const NEST = inRoot('node_modules/@nestjs/cli/bin/nest.js');
const INSTALL_STAMP = inRoot('node_modules/.countersign-stamp');
const BUILD_SETTINGS = 'config/stack/tsconfig.build.json';
/** Arguments of the Nest CLI that build all apps as one program. */
export const BUILD_ARGUMENTS = ['build', 'control-plane', '--path', BUILD_SETTINGS];
const BUILD_STAMP = inRoot('dist/.stamp');
const VITE = inRoot('node_modules/vite/bin/vite.js');
const CONSOLE = inRoot('apps/console');
const CONSOLE_STAMP = inRoot('dist/.console-stamp');
const WORK_NOTE = inRoot('dist/.work.json');
const WAIT_FOR_OTHER_MS = 500;

/**
 * Installs and builds everything that is missing or out of date. Concurrent runs wait for each other.
 *
 * @param {{ log: (message: string) => void, signal?: AbortSignal }} options signal: cancels
 */
export async function prepare({ log, signal }) {
  if (isInstalled() && isBuilt() && isConsoleBuilt()) return;
  const lock = await waitForTurn(log, signal);
  try {
    if (!isInstalled()) await install(log, signal);
    if (!isBuilt()) await build(log, signal);
    if (!isConsoleBuilt()) await buildConsole(log, signal);
  } finally {
    lock.release();
  }
}

/** The same for the console alone. @param {{ log: (message: string) => void, signal?: AbortSignal }} options */
export async function prepareConsole({ log, signal }) {
  if (isConsoleBuilt()) return;
  const lock = await waitForTurn(log, signal);
  try {
    if (!isConsoleBuilt()) await buildConsole(log, signal);
  } finally {
    lock.release();
  }
}

async function waitForTurn(log, signal) {
  openDist();
  let said = false;
  for (;;) {
    signal?.throwIfAborted();
    const lock = takeLock(inRoot('dist/.lock'));
    const working = lock.release === undefined ? lock.heldBy : orphanAtWork();
    if (working === undefined) return lock;
    lock.release?.();
    if (!said) log(`waiting for process ${working}, which installs or builds here`);
    said = true;
    await new Promise((resolve) => setTimeout(resolve, WAIT_FOR_OTHER_MS));
  }
}

function openDist() {
  try {
    mkdirSync(inRoot('dist'), { recursive: true });
    accessSync(inRoot('dist'), constants.W_OK);
  } catch (error) {
    throw new StartError(
      `cannot install or build in ${ROOT} (${error.code}): run this once as the owner of that folder`,
    );
  }
}

/** An npm or a build of a killed launcher continues and would write to the same folders. */
function orphanAtWork() {
  const noted = readJson(WORK_NOTE);
  return noted !== undefined && stillRuns(noted) ? noted.pid : undefined;
}

const noteWork = (pid) => writePrivate(WORK_NOTE, JSON.stringify(identify(pid)));

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** By the stamp of an earlier run; after an install by hand, by npm's record being newer than the lock file. */
function isInstalled() {
  const npmNote = inRoot('node_modules/.package-lock.json');
  if (!existsSync(NEST) || !existsSync(npmNote)) return false;
  if (textOf(INSTALL_STAMP) === sha256(readFileSync(LOCK_FILE))) return true;
  return statSync(npmNote).mtimeMs >= statSync(LOCK_FILE).mtimeMs;
}

async function install(log, signal) {
  log('installing the packages of package-lock.json (npm ci)');
  const done = stillWorking(log, 'installing');
  const { command, args } = npm();
  // The build needs the development packages, whatever NODE_ENV or an npmrc says.
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--include=dev', '--include=optional'];
  const code = await runCommand(command, [...args, 'ci', ...options, '--loglevel=error'], {
    cwd: ROOT,
    signal,
    onStart: noteWork,
  })
    .catch((error) => {
      throw new StartError(`npm does not start (${error.message}): install npm, which comes with Node`);
    })
    .finally(done);
  signal?.throwIfAborted();
  if (code !== 0) throw new StartError(`npm ci failed (exit code ${code}): see its output above, then start again`);
  writeFileSync(INSTALL_STAMP, sha256(readFileSync(LOCK_FILE)));
}

/** The npm that runs this process, else the npm on PATH. */
export function npm() {
  const file = process.env.npm_execpath ?? '';
  return /npm-cli\.c?js$/.test(file) ? { command: process.execPath, args: [file] } : { command: 'npm', args: [] };
}

const isBuilt = () => textOf(BUILD_STAMP) === sourcesDigest();

/**
 * Builds all apps as one program: shared files are read once. Types are not checked (`noCheck`), which takes a third of the time:
 * `npm run check:types` and the builds of single apps check them.
 */
async function build(log, signal) {
  log('building');
  const digest = sourcesDigest();
  const done = stillWorking(log, 'building');
  const args = [NEST, ...BUILD_ARGUMENTS];
  const code = await runCommand(process.execPath, args, { cwd: ROOT, signal, onStart: noteWork }).finally(done);
  signal?.throwIfAborted();
  if (code !== 0) throw new StartError(`the build failed (exit code ${code}): see the errors above`);
  copyPages();
  writeFileSync(BUILD_STAMP, digest);
}

const isConsoleBuilt = () => textOf(CONSOLE_STAMP) === consoleDigest();

/** The pages of the console, by a bundler of their own. */
async function buildConsole(log, signal) {
  log('building the console');
  const digest = consoleDigest();
  const done = stillWorking(log, 'building the console');
  const args = [VITE, 'build', '--config', path.join(CONSOLE, 'vite.config.ts')];
  // Vite would build React's development version for another NODE_ENV.
  const env = { ...process.env, NODE_ENV: 'production' };
  const code = await runCommand(process.execPath, args, { cwd: ROOT, env, signal, onStart: noteWork }).finally(done);
  signal?.throwIfAborted();
  if (code !== 0) throw new StartError(`the build of the console failed (exit code ${code}): see the errors above`);
  writeFileSync(CONSOLE_STAMP, digest);
}

/** As `sourcesDigest`, of the console. */
const consoleDigest = () =>
  digestOf([inRoot('package-lock.json'), ...filesBelow(CONSOLE)].filter((file) => !/\.spec\.tsx?$/.test(file)));

/** Changes with every file of the build: names, sizes and times, not contents, so that it takes milliseconds. */
export function sourcesDigest() {
  const settings = ['nest-cli.json', 'tsconfig.json', 'package-lock.json', BUILD_SETTINGS].map((name) => inRoot(name));
  const sources = ['apps', 'libs']
    .flatMap((folder) => filesBelow(inRoot(folder)))
    .filter((file) => !file.startsWith(CONSOLE));
  return digestOf([...settings, ...sources].filter(isBuildInput));
}

function digestOf(files) {
  const lines = files.map((file) => {
    const { size, mtimeMs } = statSync(file);
    return `${path.relative(ROOT, file)} ${size} ${mtimeMs}`;
  });
  return sha256(lines.sort().join('\n'));
}

const isBuildInput = (file) => (/\.(ts|json|md)$/.test(file) && !file.endsWith('.spec.ts')) || isPage(file);

/** Files for browsers are copied, not compiled; the build copies only those of the first named app. */
const isPage = (file) => /[\\/]page[\\/]/.test(file) && !file.endsWith('.spec.ts');

function copyPages() {
  for (const file of filesBelow(inRoot('apps')).filter(isPage)) {
    const target = inRoot('dist', path.relative(ROOT, file));
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
}

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(file) : [file];
  });
