import { createSign, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseServiceAccount, AccessTokenIssuer } from './access-token-issuer.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const FILE = {
  client_email: 'rbm@project.iam.gserviceaccount.com',
  private_key_id: 'k1',
  token_uri: 'http://127.0.0.1:8090/token',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SCOPE = 'https://www.googleapis.com/auth/rcsbusinessmessaging';
const NOW_SECONDS = 1_768_471_200;

let nowMs = NOW_SECONDS * 1000;
const clock = { nowMs: () => nowMs, after: () => () => undefined };
const issuer = new AccessTokenIssuer(parseServiceAccount(JSON.stringify(FILE)), clock);
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (what: string): string =>
  `${what}.${createSign('RSA-SHA256').update(what).sign(privateKey, 'base64url')}`;
const claims = { iss: FILE.client_email, aud: FILE.token_uri, scope: SCOPE, iat: NOW_SECONDS, exp: NOW_SECONDS + 3600 };
const exchange = (assertion: unknown) => issuer.exchange({ grant_type: GRANT, assertion }, 60);

describe('a token', () => {
  it('is good until its time is up, or until it is forgotten', () => {
    const answer = exchange(signed(`${encoded({ alg: 'RS256' })}.${encoded(claims)}`));
    if (!answer.ok) throw new Error(answer.because);
    expect(issuer.accepts(`Bearer ${answer.accessToken}`)).toBe(true);
    nowMs += 60_000;
    expect(issuer.accepts(`Bearer ${answer.accessToken}`)).toBe(false);
    nowMs -= 1;
    expect(issuer.accepts(`bearer ${answer.accessToken}`)).toBe(true);
    issuer.forgetAll();
    expect(issuer.accepts(`Bearer ${answer.accessToken}`)).toBe(false);
    nowMs = NOW_SECONDS * 1000;
  });

  it('is issued only for claims that are signed', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (header, said) => {
        expect(exchange(signed(`${encoded(header)}.${encoded(said)}`)).ok).toBe(false);
        expect(exchange(signed(`${encoded({ alg: 'RS256' })}.${encoded(said)}`)).ok).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('is given for no text and no form that is something else', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (form, text) => {
        expect(issuer.exchange(form, 60).ok).toBe(false);
        expect(exchange(text).ok).toBe(false);
        expect(exchange(`${encoded({ alg: 'RS256' })}.${encoded(claims)}.${text}`).ok).toBe(false);
        expect(issuer.accepts(text)).toBe(false);
        expect(issuer.accepts(`Bearer ${text}`)).toBe(false);
      }),
    );
  });

  it('is not issued without an account', () => {
    const closed = new AccessTokenIssuer(null, clock);
    const assertion = signed(`${encoded({ alg: 'RS256' })}.${encoded(claims)}`);
    expect(closed.exchange({ grant_type: GRANT, assertion }, 60).ok).toBe(false);
  });
});

describe('the file of a service account', () => {
  it.each(['', '[]', 'null', '{}', JSON.stringify({ ...FILE, private_key: 'x' })])('is not %j', (text) => {
    expect(() => parseServiceAccount(text)).toThrow();
  });
});
