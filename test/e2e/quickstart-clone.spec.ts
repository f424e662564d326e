import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { copyOfSources, freePorts, Launcher, processesOf, temporaryFolder } from '../support/stack.js';
import { until } from '../support/until.js';

/** Installs, builds and starts: 60 s on a quiet machine with a warm npm cache, longer on a busy one with a cold one. */
const FIRST_READY_MS = 280_000;
const GONE_MS = 30_000;
const place = temporaryFolder();

afterAll(() => place.remove());

it('npm start in a fresh clone installs, builds and comes up', { timeout: 300_000 }, async () => {
  const root = path.join(place.folder, 'countersign');
  copyOfSources(root);
  const dataDir = path.join(root, '.data');
  const ports = await freePorts();
  const environment = { COUNTERSIGN_DATA_DIR: undefined };
  const stack = await Launcher.start({ root, dataDir, ports, environment, by: 'npm' }).ready(FIRST_READY_MS);
  expect(stack.launcher.output).toMatch(/installing the packages[\s\S]+building/);
  // The folder above the clone is root's alone, so no other account could run it.
  if (process.getuid?.() === 0) expect(stack.launcher.output).toMatch(/runs as root: the account \w+ may not read/);
  expect(stack.quickstart.caFile).toBe(path.join(dataDir, 'ca.pem'));
  const { accountId, brandId } = stack.quickstart;
  const session = { accountId, brandId, phone: '+14155552671', clientChallenge: 'a'.repeat(64) };
  expect((await stack.api('POST', '/v1/verify', session)).status).toBe(200);
  await stack.stop();
  await until('every process is gone', GONE_MS, () => processesOf(place.folder).length === 0);
});
