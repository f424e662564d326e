import { generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { assertionOf } from './assertion.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const account = {
  clientEmail: 'cards@acme.iam.gserviceaccount.com',
  privateKeyId: 'key-1',
  privateKey,
  tokenUri: 'https://oauth2.googleapis.com/token',
};

const partOf = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString());

describe('an assertion', () => {
  const assertion = assertionOf(account, Date.parse('2026-01-15T10:00:00.999Z'));
  const [header = '', claims = '', signature = '', ...rest] = assertion.split('.');

  it('is a JWT with issuer, scope, audience and lifetime', () => {
    expect(rest).toEqual([]);
    expect(partOf(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(partOf(claims)).toEqual({
      iss: 'cards@acme.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/rcsbusinessmessaging',
      aud: 'https://oauth2.googleapis.com/token',
      iat: 1_768_471_200,
      exp: 1_768_474_800,
    });
  });

  it('is signed with RS256', () => {
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))).toBe(true);
    expect(verify('RSA-SHA256', signed.subarray(1), publicKey, Buffer.from(signature, 'base64url'))).toBe(false);
  });
});
