// The start order of a run. Each step is in a file of its own; lifecycle.mjs has the stop order.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { becomeUnprivileged, withoutForeignVariables } from './account.mjs';
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

/** Starts everything; ends this process when it is stopped or something fails. */
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
  const { owner, isEmpty, recheck } = openDataDir(dataDir, { uid: process.getuid?.(), accountUid, program: ROOT });
  // Root opens nothing in a directory of the account that it switches to, and creates nothing in an empty one: the
  // account does it below.
  const isOurs = accountUid === undefined || (owner !== accountUid && !isEmpty);
  if (isOurs) {
    claimDataDir(dataDir, lifecycle);
    await endLeftOverApps({ dataDir, log });
  }
  if (isOurs || isEmpty) await checkPorts(listeners);
  await lifecycle.during('apps', prepare({ log, signal: lifecycle.signal }));
  if (isOurs) await stopLeftOverRedis({ dataDir, log });
  const hasOtherAccount = becomeUnprivileged({ dataDir, owner, recheck, env, log });
  if (!isOurs) {
    claimDataDir(dataDir, lifecycle);
    await endLeftOverApps({ dataDir, log });
    await stopLeftOverRedis({ dataDir, log });
  }
  // Only root may be allowed to listen on ports below 1024.
  await checkPorts(listeners);

  const secrets = await loadSecrets(dataDir);
  const [stores, certificates, serviceAccountFile] = await Promise.all([
    startStores({ env, dataDir, lifecycle, log }),
    ensureCertificates({ dataDir, hosts: certificateHosts(env), log }),
    ensureServiceAccount({ dataDir, tokenUri: `${places.simulator}/token` }),
  ]);
  const passed = hasOtherAccount ? await withoutForeignVariables(env) : env;
  const environment = environmentOf({
    env: passed,
    dataDir,
    places,
    secrets,
    stores,
    certificates,
    serviceAccountFile,
  });
  const app = (name, phase, more = {}) =>
    startApp({
      name,
      phase,
      environment: { ...more, ...environmentFor(environment, name, stores) },
      dataDir,
      lifecycle,
      log,
    });
  // If a stop began meanwhile, no further step starts.
  lifecycle.signal.throwIfAborted();
  const ofSeed = environmentFor(environment, 'seed');
  const demo = await lifecycle.during('apps', seed({ environment: ofSeed, secrets, places, signal: lifecycle.signal }));
  // The control plane and the gateway refuse a database without the migrations.
  app('control-plane', 'apps');
  keepAnswered(dataDir, secrets, demo);
  const caFile = env.TLS_CERT_FILE || certificates.caFile;
  // The demo site is a customer and uses the account that the seed creates. The gateway binds to the simulator, so the
  // simulator starts first.
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

/** The seed replaces secrets that do not fit the database; the next start passes in the secrets that it returned. */
function keepAnswered(dataDir, secrets, demo) {
  const { apiKey, testApiKey, smpp } = demo;
  const answered = { ...secrets, apiKey, testApiKey, smppPassword: smpp.password };
  if (Object.entries(answered).some(([name, value]) => secrets[name] !== value)) keepSecrets(dataDir, answered);
}

/** Locks the data directory for this run until its end. */
function claimDataDir(dataDir, lifecycle) {
  const lock = takeLock(path.join(dataDir, 'lock'));
  if (lock.release === undefined) {
    throw new StartError(
      `Countersign already runs from ${dataDir} (process ${lock.heldBy}): stop it, or set COUNTERSIGN_DATA_DIR and the ports to run another`,
    );
  }
  // The file means "ready": remove the one of an earlier run.
  rmSync(quickstartFile(dataDir), { force: true });
  lifecycle.onStop('last', async () => {
    rmSync(quickstartFile(dataDir), { force: true });
    lock.release();
  });
}
