// Builds a commit in a folder of its own, to compare it with the working tree or to run beside it.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { BUILD_ARGUMENTS, npm, ROOT } from './prepare.mjs';
import { runCommand } from './processes.mjs';
import { StartError, stillWorking } from './progress.mjs';

function git(...args) {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (error !== undefined) throw new StartError(`git does not start (${error.message})`);
  return { ok: status === 0, output: stdout.trim(), stderr: stderr.trim() };
}

/**
 * Checks the commit out into a worktree and builds its applications. The caller removes the worktree.
 *
 * @param {{ commit: string, folder: string, log: (message: string) => void, signal: AbortSignal }} options
 * folder: does not exist yet
 * @returns {Promise<{ name: string, dist: string }>} name: the short hash
 */
export async function buildCommit({ commit, folder, log, signal }) {
  const found = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{commit}`);
  if (!found.ok) throw new StartError(`${commit} is not a commit of this repository`);
  const name = git('rev-parse', '--short', found.output).output;
  const added = git('worktree', 'add', '--quiet', '--detach', folder, found.output);
  if (!added.ok) throw new StartError(`git made no worktree of ${commit}: ${added.stderr}`);
  await addPackages(folder, log, signal);
  log(`building ${name}`);
  const done = stillWorking(log, `building ${name}`);
  // The same arguments as the build of the working tree: the two builds differ in their sources alone.
  const nest = path.join(folder, 'node_modules/@nestjs/cli/bin/nest.js');
  const args = [nest, ...BUILD_ARGUMENTS];
  const code = await runCommand(process.execPath, args, { cwd: folder, signal }).finally(done);
  signal.throwIfAborted();
  if (code !== 0) throw new StartError(`the build of ${name} failed (exit code ${code}): see the errors above`);
  return { name, dist: path.join(folder, 'dist') };
}

/** Whether the repository has the commit: a clone may be shallow, and a source archive has none. */
export function hasCommit(commit) {
  try {
    return git('cat-file', '-e', `${commit}^{commit}`).ok;
  } catch {
    return false;
  }
}

/** Links the packages of the working tree if the lock files are equal, else installs those of the commit. */
async function addPackages(folder, log, signal) {
  const lockOf = (root) => readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  if (lockOf(folder) === lockOf(ROOT)) {
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
    return;
  }
  log('installing the packages of the commit (npm ci)');
  const { command, args } = npm();
  const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--include=dev'];
  const code = await runCommand(command, [...args, 'ci', ...options, '--loglevel=error'], { cwd: folder, signal });
  signal.throwIfAborted();
  if (code !== 0) throw new StartError(`npm ci of the commit failed (exit code ${code}): see its output above`);
}

/** Removes the worktree, also one that was created only in part. Never throws. */
export function removeWorktree(folder) {
  rmSync(folder, { recursive: true, force: true }); // removes the link to the packages, not the packages
  git('worktree', 'remove', '--force', folder);
}
