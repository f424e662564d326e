import { createHash } from 'node:crypto';
import { createApiKey } from '@countersign/keys';
import type { Environment } from './subjects.js';

export function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set: run this by "npm run bench"`);
  return value;
}

/** The variable's value if it is set, even to an empty text. */
export function optional(name: string): Environment {
  const value = process.env[name];
  return value === undefined ? {} : { [name]: value };
}

/** Keys of this run only; the stores are private to it too. */
export function runEnvironment(masterKey: Buffer, stores: Environment): Environment {
  return {
    NODE_ENV: 'development',
    ...stores,
    COUNTERSIGN_MASTER_KEY: masterKey.toString('base64'),
    COUNTERSIGN_ENTROPY_KEYS: `1:${createHash('sha256').update(masterKey).digest('base64')}`,
    COUNTERSIGN_ADMIN_KEY: createApiKey('admin'),
    TLS_CERT_FILE: required('TLS_CERT_FILE'),
    TLS_KEY_FILE: required('TLS_KEY_FILE'),
  };
}
