// What the apps of a development run are told: what the user set, else what this run made.
import os from 'node:os';
import path from 'node:path';

/** Receivers of webhooks on this machine are allowed, over plain http too, so that the demo works. */
const WEBHOOK_DEFAULTS = { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8,::1/128', WEBHOOK_ALLOW_HTTP: 'true' };
const SIMULATOR_SYSTEM_ID = 'simulator';
const WILDCARDS = { '0.0.0.0': '127.0.0.1', '::': '::1' };

const bracketed = (host) => (host.includes(':') ? `[${host}]` : host);
/** Where a listener on this host is reached from this machine. */
const reachable = (host) => bracketed(WILDCARDS[host] ?? host);

/**
 * Where everything is reached.
 *
 * @param {Record<string, string | undefined>} env
 * @param {ReturnType<typeof import('./ports.mjs').listenersOf>} listeners
 */
export function placesOf(env, listeners) {
  const at = (variable) => {
    const { host, port } = listeners.find((listener) => listener.variable === variable);
    return { port, authority: `${reachable(host)}:${port}` };
  };
  return {
    proxied: env.TLS_MODE === 'proxy',
    baseUrl: (env.PUBLIC_BASE_URL || `https://${at('CONTROL_PLANE_PORT').authority}`).replace(/\/+$/, ''),
    controlPlane: `https://${at('CONTROL_PLANE_PORT').authority}`,
    controlPlaneOps: `http://${at('CONTROL_PLANE_OPS_PORT').authority}`,
    gatewayOps: `http://${at('GATEWAY_OPS_PORT').authority}`,
    simulator: `http://${at('SIMULATOR_HTTP_PORT').authority}`,
    simulatorSmppPort: at('SIMULATOR_SMPP_PORT').port,
    simulatorSystemId: SIMULATOR_SYSTEM_ID,
    smppPort: at('GATEWAY_SMPP_PORT').port,
  };
}

/** The names and addresses that the local certificate is for. */
export function certificateHosts(env) {
  const own = [env.CONTROL_PLANE_HOST, env.GATEWAY_SMPP_HOST, publicHost(env.PUBLIC_BASE_URL), os.hostname()];
  const named = own.filter((host) => host && !(host in WILDCARDS));
  return [...new Set(['localhost', '127.0.0.1', '::1', ...named])];
}

function publicHost(url) {
  try {
    return url ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined;
  } catch {
    return undefined; // the control plane says what is wrong with it
  }
}

/** A certificate and its key go together: who sets one of them gets neither from here. */
function certificateUnless(env, prefix, { certFile, keyFile }) {
  const [certVariable, keyVariable] = [`${prefix}_CERT_FILE`, `${prefix}_KEY_FILE`];
  return env[certVariable] || env[keyVariable] ? {} : { [certVariable]: certFile, [keyVariable]: keyFile };
}

/** @returns {Record<string, string>} the environment of the apps and of the seed */
export function environmentOf({ env, dataDir, places, secrets, stores, certificates }) {
  const made = {
    COUNTERSIGN_MASTER_KEY: secrets.masterKey,
    COUNTERSIGN_ENTROPY_KEYS: secrets.entropyKeys,
    COUNTERSIGN_ADMIN_KEY: secrets.adminKey,
    ...certificateUnless(env, 'TLS', certificates),
    ...certificateUnless(env, 'SMPP_TLS', certificates),
    PUBLIC_BASE_URL: places.baseUrl,
    SIMULATOR_SYSTEM_ID: places.simulatorSystemId,
    SIMULATOR_PASSWORD: secrets.simulatorPassword,
    // From Node 22 on, compiled code is kept between starts; earlier ones do not know the variable.
    NODE_COMPILE_CACHE: path.join(dataDir, 'compiled'),
    ...WEBHOOK_DEFAULTS,
  };
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  return {
    ...made,
    ...Object.fromEntries(given),
    NODE_ENV: 'development',
    COUNTERSIGN_DATA_DIR: dataDir,
    DATABASE_URL: stores.databaseUrl,
    ...(stores.redisUrl === undefined ? {} : { REDIS_URL: stores.redisUrl }),
  };
}
