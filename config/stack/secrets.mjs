// Keys and passwords of a development run: generated once, kept in the data directory, readable by its owner only.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readJson, writePrivate } from './files.mjs';
import { ROOT } from './prepare.mjs';
import { StartError } from './progress.mjs';

/** SMPP limits a password to 8 octets. */
const SMPP_PASSWORD_BYTES = 6;
const CLIENT_TOKEN_BYTES = 24;

/**
 * @typedef {object} Secrets
 * @property {string} masterKey 32 bytes, base64
 * @property {string} entropyKeys `1:<base64>`
 * @property {string} adminKey `csk_admin_…`
 * @property {string} apiKey `csk_live_…`, of the demo account
 * @property {string} testApiKey `csk_test_…`, of the same account
 * @property {string} smppPassword of the system for an aggregator that connects in
 * @property {string} simulatorPassword of the gateway's bind to the simulator
 * @property {string} rbmClientToken what the simulator's RBM service signs its webhooks with
 */

const fileOf = (dataDir) => path.join(dataDir, 'secrets.json');

/** @param {string} dataDir @returns {Promise<Secrets>} those kept there; what is missing is made */
export async function loadSecrets(dataDir) {
  const file = fileOf(dataDir);
  const kept = existsSync(file) ? readJson(file) : {};
  if (kept === undefined || kept === null || typeof kept !== 'object') {
    throw new StartError(`${file} is damaged: restore it, or remove ${dataDir} to start anew`);
  }
  const secrets = { ...(await newSecrets()), ...kept };
  if (Object.keys(secrets).length !== Object.keys(kept).length) {
    keepSecrets(dataDir, secrets);
  }
  return secrets;
}

/** @param {string} dataDir @param {Secrets} secrets */
export function keepSecrets(dataDir, secrets) {
  writePrivate(fileOf(dataDir), `${JSON.stringify(secrets, undefined, 2)}\n`);
}

async function newSecrets() {
  const keys = pathToFileURL(path.join(ROOT, 'dist/libs/keys/src/index.js'));
  const { createApiKey } = await import(keys.href);
  return {
    masterKey: randomBytes(32).toString('base64'),
    entropyKeys: `1:${randomBytes(32).toString('base64')}`,
    adminKey: createApiKey('admin'),
    apiKey: createApiKey('live'),
    testApiKey: createApiKey('test'),
    smppPassword: randomBytes(SMPP_PASSWORD_BYTES).toString('base64url'),
    simulatorPassword: randomBytes(SMPP_PASSWORD_BYTES).toString('base64url'),
    rbmClientToken: randomBytes(CLIENT_TOKEN_BYTES).toString('base64url'),
  };
}
