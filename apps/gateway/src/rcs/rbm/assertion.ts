import { sign } from 'node:crypto';
import type { ServiceAccount } from './service-account.js';

const SCOPE = 'https://www.googleapis.com/auth/rcsbusinessmessaging';
/** The longest lifetime that the token endpoint accepts. */
const LIFETIME_SECONDS = 3_600;

/** The JWT that a service account exchanges for an access token, RS256 (RFC 7523, 2.1 and 3). */
export function assertionOf(account: ServiceAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000);
  const header = encoded({ alg: 'RS256', typ: 'JWT', kid: account.privateKeyId });
  const claims = encoded({
    iss: account.clientEmail,
    scope: SCOPE,
    aud: account.tokenUri,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  });
  const signed = `${header}.${claims}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), account.privateKey).toString('base64url')}`;
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
