import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isGuardedUrl, SettingsError } from '@countersign/settings';
import { readMembers, textIn, type Members } from './json-members.js';

/** What a service account proves itself with. The key is an object that prints as nothing. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly privateKeyId: string;
  readonly privateKey: KeyObject;
  /** Where assertions are exchanged for access tokens. */
  readonly tokenUri: string;
}

export type ServiceAccountReading = { readonly account: ServiceAccount } | { readonly fault: string };

/** Far more than a key file has. */
const MAX_FILE_OCTETS = 64 * 1024;
const MAX_TEXT = 2_048;
const MAX_PEM = 32 * 1024;
/** RS256 wants no less (RFC 7518, 3.3). */
const MIN_MODULUS_BITS = 2_048;
const VARIABLE = 'RBM_SERVICE_ACCOUNT_FILE';

/** The service account of a key file. Throws a SettingsError that says what is wrong, and nothing of what it holds. */
export function loadServiceAccount(file: string): ServiceAccount {
  const reading = readFile(file);
  if ('account' in reading) return reading.account;
  throw new SettingsError([
    {
      variable: VARIABLE,
      fault: `is ${JSON.stringify(file)}, which ${reading.fault}`,
      allowed: 'the path of the JSON key of a service account, as Google gives it out',
    },
  ]);
}

function readFile(file: string): ServiceAccountReading {
  try {
    return readServiceAccount(readFileSync(file));
  } catch {
    return { fault: 'is no file that this process can read' };
  }
}

/** The octets of a key file. Whatever they are, the fault shows nothing of them: a near miss may be a key. */
export function readServiceAccount(octets: Buffer): ServiceAccountReading {
  if (octets.length > MAX_FILE_OCTETS) return { fault: `has more than ${MAX_FILE_OCTETS} bytes` };
  const members = readMembers(octets);
  if (members === null) return { fault: 'is no JSON object' };
  if (textIn(members, 'type', MAX_TEXT) !== 'service_account') return { fault: 'is not of the type service_account' };
  const clientEmail = lineIn(members, 'client_email');
  if (clientEmail === null) return { fault: 'has no client_email' };
  const privateKeyId = lineIn(members, 'private_key_id');
  if (privateKeyId === null) return { fault: 'has no private_key_id' };
  const tokenUri = lineIn(members, 'token_uri');
  if (tokenUri === null || !isGuardedUrl(tokenUri)) return { fault: 'has no token_uri that is https, or on loopback' };
  const privateKey = keyIn(members);
  if (privateKey === null)
    return { fault: `has no private_key that is RSA of ${MIN_MODULUS_BITS} bits or more, in PEM` };
  return { account: { clientEmail, privateKeyId, privateKey, tokenUri } };
}

function lineIn(members: Members, name: string): string | null {
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
