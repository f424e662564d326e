// The key by which the gateway of a development run proves itself at the RBM service that the simulator plays.
import { createPrivateKey, generateKeyPair, randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { readJson, writePrivate } from './files.mjs';

const KEY_BITS = 2048;
const KEY_ID_BYTES = 20;
const PROJECT = 'countersign-development';

/**
 * Makes sure of a service account's key file, in the form that Google gives it out, whose tokens come from there. The key
 * stays when only the place has changed.
 *
 * @param {{ dataDir: string, tokenUri: string }} options
 * @returns {Promise<string>} its path
 */
export async function ensureServiceAccount({ dataDir, tokenUri }) {
  const file = path.join(dataDir, 'rbm-service-account.json');
  const kept = readJson(file);
  const isWhole = isKey(kept?.private_key);
  if (isWhole && kept.token_uri === tokenUri) return file;
  const account = isWhole ? kept : await newAccount();
  writePrivate(file, `${JSON.stringify({ ...account, token_uri: tokenUri }, undefined, 2)}\n`);
  return file;
}

async function newAccount() {
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return {
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: randomBytes(KEY_ID_BYTES).toString('hex'),
    private_key: privateKey,
    client_email: `rbm@${PROJECT}.iam.gserviceaccount.com`,
  };
}

/** A file may have been cut short or filled by hand. */
function isKey(text) {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
