import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isGuardedUrl, SettingsError } from '@countersign/settings';
import { parseMembers, textIn, type Members } from '../json/json-members.js';

/** The credentials of a service account. The key is a KeyObject, so that printing it does not reveal it. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: KeyObject;
  /** The endpoint that exchanges assertions for access tokens. */
  readonly tokenUri: string;
}

export type ServiceAccountResult = { readonly account: ServiceAccount } | { readonly fault: string };

/** Far larger than any key file. */
const MAX_FILE_OCTETS = 64 * 1024;
const MAX_TEXT = 2_048;
const MAX_PEM = 32 * 1024;
/** Minimum of RS256 (RFC 7518, 3.3). */
const MIN_MODULUS_BITS = 2_048;
const VARIABLE = 'RBM_SERVICE_ACCOUNT_FILE';

/** Loads a key file. Throws a SettingsError that names the fault and shows no content of the file. */
export function loadServiceAccount(file: string): ServiceAccount {
  const result = readFile(file);
  if ('account' in result) return result.account;
  throw new SettingsError([
    {
      variable: VARIABLE,
      fault: `is ${JSON.stringify(file)}, which ${result.fault}`,
      allowed: 'the path of the JSON key file of a service account, as issued by Google',
    },
  ]);
}

function readFile(file: string): ServiceAccountResult {
  try {
    return parseServiceAccount(readFileSync(file));
  } catch {
    return { fault: 'is not a file that this process can read' };
  }
}

/** Parses a key file. The fault shows no content, since an invalid file may still hold a key. */
export function parseServiceAccount(octets: Buffer): ServiceAccountResult {
  if (octets.length > MAX_FILE_OCTETS) return { fault: `has more than ${MAX_FILE_OCTETS} bytes` };
  const members = parseMembers(octets);
  if (members === null) return { fault: 'is not a JSON object' };
  if (textIn(members, 'type', MAX_TEXT) !== 'service_account') return { fault: 'is not of the type service_account' };
  const clientEmail = nonEmptyTextIn(members, 'client_email');
  if (clientEmail === null) return { fault: 'has no client_email' };
  const privateKeyId = nonEmptyTextIn(members, 'private_key_id');
  if (privateKeyId === null) return { fault: 'has no private_key_id' };
  const tokenUri = nonEmptyTextIn(members, 'token_uri');
  if (tokenUri === null || !isGuardedUrl(tokenUri)) return { fault: 'has no token_uri that is https, or on loopback' };
  const privateKey = keyIn(members);
  if (privateKey === null)
    return { fault: `has no private_key that is RSA of ${MIN_MODULUS_BITS} bits or more, in PEM` };
  return { account: { clientEmail, privateKeyId, privateKey, tokenUri } };
}

function nonEmptyTextIn(members: Members, name: string): string | null {
  const text = textIn(members, name, MAX_TEXT);
  return text === null || text === '' ? null : text;
}

function keyIn(members: Members): KeyObject | null {
  const pem = textIn(members, 'private_key', MAX_PEM);
  if (pem === null) return null;
  try {
    const key = createPrivateKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === 'rsa' && bits >= MIN_MODULUS_BITS ? key : null;
  } catch {
    return null;
  }
}
