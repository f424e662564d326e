// The order in which a run comes up. Each step lives in its own file; how it goes down again is in lifecycle.mjs.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { becomeUnprivileged } from './account.mjs';
import { endLeftOverApps, startApp } from './apps.mjs';
import { ensureCertificates } from './certificates.mjs';
import { openDataDir } from './data-dir.mjs';
import {
  cardsAreSimulated,
  certificateHosts,
  demoEnvironmentOf,
  environmentFor,
  environmentOf,
  placesOf,
} from './environment.mjs';
import { createLifecycle } from './lifecycle.mjs';
import { takeLock } from './lock.mjs';
import { checkPorts, listenersOf } from './ports.mjs';
import { prepare, ROOT } from './prepare.mjs';
import { faultText, startLog, StartError } from './progress.mjs';
import { publishQuickstart, quickstartFile } from './quickstart.mjs';
import { serverAccount } from './postgres-binaries.mjs';
import { waitUntilReady } from './ready.mjs';
import { stopLeftOverRedis } from './redis.mjs';
import { keepSecrets, loadSecrets } from './secrets.mjs';
import { seed } from './seed.mjs';
import { ensureServiceAccount } from './service-account.mjs';
import { startStores } from './stores.mjs';
import { withSecretFiles } from './secret-files.mjs';

/** Brings everything up, and ends this process when it is stopped or something fails. */
export async function launch(env = process.env) {
  const log = startLog();
  const lifecycle = createLifecycle(log);
  lifecycle.watch();
  try {
    await bringUp(withSecretFiles(env), lifecycle, log);
  } catch (error) {
    if (!lifecycle.signal.aborted) await lifecycle.stop(1, faultText(error));
  }
}

async function bringUp(env, lifecycle, log) {
  if (env.NODE_ENV === 'production') {
    throw new StartError(
      'npm start is a development run (demo keys, webhooks to this machine). In production run the two apps, as docker-compose.yml shows; to try it here, unset NODE_ENV',
    );
  }
  if (env.NODE_ENV && !['development', 'test'].includes(env.NODE_ENV)) {
    throw new StartError(`NODE_ENV is "${env.NODE_ENV}". Allowed: production, development, test`);
  }
  const listeners = listenersOf(env);
  const places = placesOf(env, listeners);
  const dataDir = env.COUNTERSIGN_DATA_DIR ? path.resolve(env.COUNTERSIGN_DATA_DIR) : path.join(ROOT, '.data');
  const accountUid = serverAccount().uid;
  const { owner } = openDataDir(dataDir, { uid: process.getuid?.(), accountUid, program: ROOT });
  // Root opens nothing in a directory of the account that it becomes: the account does, below.
  const isOurs = accountUid === undefined || owner !== accountUid;
  if (isOurs) {
    claimDataDir(dataDir, lifecycle);
    await endLeftOverApps({ dataDir, log });
    await checkPorts(listeners);
  }
  await lifecycle.during('apps', prepare({ log, signal: lifecycle.signal }));
  if (isOurs) await stopLeftOverRedis({ dataDir, log });
  becomeUnprivileged({ dataDir, owner, env, log });
  if (!isOurs) {
    claimDataDir(dataDir, lifecycle);
    await endLeftOverApps({ dataDir, log });
    await stopLeftOverRedis({ dataDir, log });
  }
  // Ports below 1024 may be root's alone.
  await checkPorts(listeners);

  const secrets = await loadSecrets(dataDir);
  const [stores, certificates, serviceAccountFile] = await Promise.all([
    startStores({ env, dataDir, lifecycle, log }),
    ensureCertificates({ dataDir, hosts: certificateHosts(env), log }),
    ensureServiceAccount({ dataDir, tokenUri: `${places.simulator}/token` }),
  ]);
  const environment = environmentOf({ env, dataDir, places, secrets, stores, certificates, serviceAccountFile });
  const app = (name, phase, more = {}) =>
    startApp({
      name,
      phase,
      environment: { ...more, ...environmentFor(environment, name, stores) },
      dataDir,
      lifecycle,
      log,
    });
  // A stop that came meanwhile waits for nothing that begins after it.
  lifecycle.signal.throwIfAborted();
  const ofSeed = environmentFor(environment, 'seed');
  const demo = await lifecycle.during('apps', seed({ environment: ofSeed, secrets, places, signal: lifecycle.signal }));
  // It refuses a database that was not migrated, as the gateway does.
  app('control-plane', 'apps');
  keepAnswered(dataDir, secrets, demo);
  const caFile = env.TLS_CERT_FILE || certificates.caFile;
  // Its demo site is a customer: it gets the account that the seed has made. The gateway binds to it, so it goes first.
  app('simulator', 'simulator', demoEnvironmentOf({ places, caFile, demo }));
  app('gateway', 'apps');
  const { signal } = lifecycle;
  await waitUntilReady({ places, caFile, apiKey: demo.apiKey, withCards: cardsAreSimulated(env), signal });
  lifecycle.signal.throwIfAborted();
  publishQuickstart({
    dataDir,
    places,
    caFile,
    demo,
    adminKey: environment.COUNTERSIGN_ADMIN_KEY,
    environment,
    stores,
    log,
  });
}

/** The seed replaces what does not fit the database; the next start hands in what it answered. */
function keepAnswered(dataDir, secrets, demo) {
  const { apiKey, testApiKey, smpp } = demo;
  const answered = { ...secrets, apiKey, testApiKey, smppPassword: smpp.password };
  if (Object.entries(answered).some(([name, value]) => secrets[name] !== value)) keepSecrets(dataDir, answered);
}

/** Takes the data directory for this run alone until its end. */
function claimDataDir(dataDir, lifecycle) {
  const lock = takeLock(path.join(dataDir, 'lock'));
  if (lock.release === undefined) {
    throw new StartError(
      `Countersign already runs from ${dataDir} (process ${lock.heldBy}): stop it, or set COUNTERSIGN_DATA_DIR and the ports to run another`,
    );
  }
  // The file says "ready": one of an earlier run must not.
  rmSync(quickstartFile(dataDir), { force: true });
  lifecycle.onStop('last', async () => {
    rmSync(quickstartFile(dataDir), { force: true });
    lock.release();
  });
}
