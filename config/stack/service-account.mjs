// The key with which the gateway of a development run authenticates at the simulator's RBM service.
import { createPrivateKey, generateKeyPair, randomBytes } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { readJson, writePrivate } from './files.mjs';

const KEY_BITS = 2048;
const KEY_ID_BYTES = 20;
const PROJECT = 'countersign-development';

/**
 * Creates the key file of a service account in Google's format, with `tokenUri` as the address of its tokens. An
 * existing key is kept if only the address has changed.
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

/** The file may be truncated or written by hand. */
function isKey(text) {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
