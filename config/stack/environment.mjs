// The environment of the apps of a development run: values of the user, else values of this run.
import os from 'node:os';
import path from 'node:path';
import { GATEWAY } from './postgres-roles.mjs';

/**
 * Webhook receivers on this machine are allowed, also over plain http, so that the demo works; the rate per host is
 * high enough for a first load test.
 */
const WEBHOOK_DEFAULTS = {
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8,::1/128',
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_HOST_PER_SECOND: '10000',
};
/** A first load test may send all its messages from one phone. */
const MO_DEFAULTS = { MO_SENDER_PER_SECOND: '10000' };
/** A phone that is switched to RCS on the simulator's page gets the next card at once. */
const RCS_DEFAULTS = { RCS_UNREACHABLE_SECONDS: '0' };
const RBM_VARIABLES = ['RBM_BASE_URL', 'RBM_SERVICE_ACCOUNT_FILE', 'RBM_CLIENT_TOKEN'];
const SIMULATOR_SYSTEM_ID = 'simulator';
const WILDCARDS = { '0.0.0.0': '127.0.0.1', '::': '::1' };

const bracketed = (host) => (host.includes(':') ? `[${host}]` : host);
/** The address by which this machine reaches a listener on this host. */
const reachable = (host) => bracketed(WILDCARDS[host] ?? host);

/**
 * The URLs and addresses of all listeners.
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
    gatewayHttp: `http://${at('GATEWAY_HTTP_PORT').authority}`,
    gatewayOps: `http://${at('GATEWAY_OPS_PORT').authority}`,
    simulator: `http://${at('SIMULATOR_HTTP_PORT').authority}`,
    simulatorSmppPort: at('SIMULATOR_SMPP_PORT').port,
    simulatorSystemId: SIMULATOR_SYSTEM_ID,
    smppPort: at('GATEWAY_SMPP_PORT').port,
  };
}

/** The host names and addresses in the local certificate. */
export function certificateHosts(env) {
  const own = [env.CONTROL_PLANE_HOST, env.GATEWAY_SMPP_HOST, publicHost(env.PUBLIC_BASE_URL), os.hostname()];
  const named = own.filter((host) => host && !(host in WILDCARDS));
  return [...new Set(['localhost', '127.0.0.1', '::1', ...named])];
}

function publicHost(url) {
  try {
    return url ? new URL(url).hostname.replace(/^\[|\]$/g, '') : undefined;
  } catch {
    return undefined; // the control plane reports the error
  }
}

/** A certificate and its key belong together: if the user sets one of them, the run provides neither. */
function certificateUnless(env, prefix, { certFile, keyFile }) {
  const [certVariable, keyVariable] = [`${prefix}_CERT_FILE`, `${prefix}_KEY_FILE`];
  return env[certVariable] || env[keyVariable] ? {} : { [certVariable]: certFile, [keyVariable]: keyFile };
}

/** Whether cards go to the simulator. If the user sets one of the variables, the run provides none of them. */
export const cardsAreSimulated = (env) => RBM_VARIABLES.every((variable) => !env[variable]);

/** The RBM service of the simulator: its settings for reaching the gateway, and the gateway's for reaching it. */
function rbmOf(env, places, { rbmClientToken }, serviceAccountFile) {
  if (!cardsAreSimulated(env)) return {};
  return {
    RBM_BASE_URL: places.simulator,
    RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile,
    RBM_CLIENT_TOKEN: rbmClientToken,
    SIMULATOR_RBM_SERVICE_ACCOUNT_FILE: serviceAccountFile,
    SIMULATOR_RBM_CLIENT_TOKEN: rbmClientToken,
    SIMULATOR_RBM_WEBHOOK_URL: `${places.gatewayHttp}/rcs/webhook`,
    ...RCS_DEFAULTS,
  };
}

/**
 * The demo site's settings of its account, once the account exists.
 *
 * @returns {Record<string, string>}
 */
export function demoEnvironmentOf({ places, caFile, demo }) {
  return {
    SIMULATOR_DEMO_BASE_URL: places.proxied ? places.baseUrl : places.controlPlane,
    SIMULATOR_DEMO_CA_FILE: caFile,
    SIMULATOR_DEMO_API_KEY: demo.apiKey,
    SIMULATOR_DEMO_ACCOUNT_ID: demo.accountId,
    SIMULATOR_DEMO_BRAND_ID: demo.brandId,
    SIMULATOR_DEMO_WEBHOOK_SECRET: demo.webhookSecret,
  };
}

/** Variables that only some processes get, each with those processes. */
const GIVEN_TO = {
  DATABASE_MIGRATION_URL: ['seed'],
  DATABASE_GATEWAY_ROLE: ['seed'],
  DATABASE_URL: ['seed', 'control-plane', 'gateway'],
  REDIS_URL: ['seed', 'control-plane', 'gateway'],
  COUNTERSIGN_MASTER_KEY: ['seed', 'control-plane', 'gateway'],
  COUNTERSIGN_ENTROPY_KEYS: ['seed', 'control-plane'],
  COUNTERSIGN_ADMIN_KEY: ['seed', 'control-plane'],
  WEBHOOK_EGRESS_PROXY: ['seed', 'control-plane'],
  CONSOLE_OIDC_ISSUER: ['control-plane'],
  CONSOLE_OIDC_CLIENT_ID: ['control-plane'],
  CONSOLE_OIDC_CLIENT_SECRET: ['control-plane'],
  CONSOLE_OIDC_NAME: ['control-plane'],
  CONSOLE_SECOND_STEP: ['control-plane'],
  RBM_CLIENT_TOKEN: ['gateway'],
  SIMULATOR_PASSWORD: ['simulator'],
  SIMULATOR_RBM_CLIENT_TOKEN: ['simulator'],
};

/**
 * The environment of one process of a run.
 *
 * @param {Record<string, string>} environment of environmentOf
 * @param {'seed' | 'control-plane' | 'gateway' | 'simulator'} name
 * @param {{ gatewayUrl?: string | undefined }} [stores]
 * @returns {Record<string, string>}
 */
export function environmentFor(environment, name, { gatewayUrl } = {}) {
  const isGiven = ([variable]) => GIVEN_TO[variable.replace(/_FILE$/, '')]?.includes(name) ?? true;
  const given = Object.fromEntries(Object.entries(environment).filter(isGiven));
  return name === 'gateway' && gatewayUrl !== undefined ? { ...given, DATABASE_URL: gatewayUrl } : given;
}

/** @returns {Record<string, string>} the environment of all processes together; see environmentFor */
export function environmentOf({ env, dataDir, places, secrets, stores, certificates, serviceAccountFile }) {
  const made = {
    COUNTERSIGN_MASTER_KEY: secrets.masterKey,
    COUNTERSIGN_ENTROPY_KEYS: secrets.entropyKeys,
    COUNTERSIGN_ADMIN_KEY: secrets.adminKey,
    ...certificateUnless(env, 'TLS', certificates),
    ...certificateUnless(env, 'SMPP_TLS', certificates),
    PUBLIC_BASE_URL: places.baseUrl,
    SIMULATOR_SYSTEM_ID: places.simulatorSystemId,
    SIMULATOR_PASSWORD: secrets.simulatorPassword,
    ...rbmOf(env, places, secrets, serviceAccountFile),
    // From Node 22 on, compiled code is kept between starts; earlier ones do not know the variable.
    NODE_COMPILE_CACHE: path.join(dataDir, 'compiled'),
    ...WEBHOOK_DEFAULTS,
    ...MO_DEFAULTS,
  };
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  return {
    ...made,
    ...Object.fromEntries(given),
    NODE_ENV: 'development',
    COUNTERSIGN_DATA_DIR: dataDir,
    DATABASE_URL: stores.databaseUrl,
    ...(stores.migrationUrl === undefined ? {} : { DATABASE_MIGRATION_URL: stores.migrationUrl }),
    ...(stores.gatewayUrl === undefined ? {} : { DATABASE_GATEWAY_ROLE: GATEWAY }),
    ...(stores.redisUrl === undefined ? {} : { REDIS_URL: stores.redisUrl }),
  };
}
