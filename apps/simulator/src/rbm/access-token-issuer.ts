import { createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import { forgetOldest } from '../memory/forget-oldest.js';
import type { Clock } from './clock.js';
import { memberOf } from './own-member.js';

/** The service account that owns the agents. */
export interface ServiceAccount {
  readonly clientEmail: string;
  readonly keyId: string;
  readonly tokenUri: string;
  readonly publicKey: KeyObject;
}

export type TokenAnswer =
  | { readonly ok: true; readonly accessToken: string; readonly seconds: number }
  | { readonly ok: false; readonly because: string };

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const SCOPE = 'https://www.googleapis.com/auth/rcsbusinessmessaging';
const LONGEST_LIFE_SECONDS = 3600;
/** Clocks differ. */
const SKEW_SECONDS = 60;
const LONGEST_ASSERTION = 8192;
const TOKEN_BYTES = 32;
/** Above this number the oldest are removed. */
const MOST_TOKENS = 1000;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Parses the account's key file in Google's format. The private key is not kept. Throws for anything else. */
export function parseServiceAccount(json: string): ServiceAccount {
  const file: unknown = JSON.parse(json);
  const text = (name: string): string => {
    const value = memberOf(file, name);
    if (typeof value !== 'string') throw new Error(`the service account's file has no ${name}`);
    return value;
  };
  return {
    clientEmail: text('client_email'),
    keyId: text('private_key_id'),
    tokenUri: text('token_uri'),
    publicKey: createPublicKey(text('private_key')),
  };
}

/** Issues tokens for the service account's signed assertion (RFC 7523) and validates them. */
export class AccessTokenIssuer {
  readonly #tokens = new Map<string, number>();

  constructor(
    /** Null: no tokens are issued. */
    private readonly account: ServiceAccount | null,
    private readonly clock: Clock,
  ) {}

  exchange(form: unknown, lifeSeconds: number): TokenAnswer {
    const [grantType, assertion] = ['grant_type', 'assertion'].map((name) => memberOf(form, name));
    if (grantType !== GRANT_TYPE) return { ok: false, because: 'unsupported grant_type' };
    if (typeof assertion !== 'string' || assertion.length > LONGEST_ASSERTION)
      return { ok: false, because: 'no assertion' };
    const because = this.#faultIn(assertion);
    if (because !== null) return { ok: false, because };
    const accessToken = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#tokens.set(accessToken, this.clock.nowMs() + lifeSeconds * 1000);
    forgetOldest(this.#tokens, MOST_TOKENS);
    return { ok: true, accessToken, seconds: lifeSeconds };
  }

  /** Whether an Authorization header carries a valid token. */
  accepts(authorization: string | undefined): boolean {
    const [, token = ''] = /^Bearer ([\w-]{1,200})$/i.exec(authorization ?? '') ?? [];
    return (this.#tokens.get(token) ?? 0) > this.clock.nowMs();
  }

  forgetAll(): void {
    this.#tokens.clear();
  }

  #faultIn(assertion: string): string | null {
    if (this.account === null) return 'there is no service account here';
    const [header = '', claims = '', signature = '', ...rest] = assertion.split('.');
    if (rest.length > 0 || ![header, claims, signature].every((part) => BASE64URL.test(part))) return 'not a JWT';
    const [head, said] = [header, claims].map(decoded);
    if (memberOf(head, 'alg') !== 'RS256') return 'alg must be RS256';
    const keyId = memberOf(head, 'kid');
    if (keyId !== undefined && keyId !== this.account.keyId) return 'another key';
    if (!this.#isSigned(`${header}.${claims}`, signature, this.account.publicKey)) return 'Invalid JWT Signature.';
    return this.#faultInClaims(said, this.account);
  }

  #isSigned(what: string, signature: string, key: KeyObject): boolean {
    try {
      return verify('RSA-SHA256', Buffer.from(what), key, Buffer.from(signature, 'base64url'));
    } catch {
      return false;
    }
  }

  #faultInClaims(claims: unknown, account: ServiceAccount): string | null {
    const [iss, aud, scope, iat, exp] = ['iss', 'aud', 'scope', 'iat', 'exp'].map((name) => memberOf(claims, name));
    const now = this.clock.nowMs() / 1000;
    if (iss !== account.clientEmail) return 'another issuer';
    if (aud !== account.tokenUri) return 'another audience';
    if (typeof scope !== 'string' || !scope.split(' ').includes(SCOPE)) return 'another scope';
    if (typeof iat !== 'number' || typeof exp !== 'number') return 'iat and exp must be numbers';
    if (iat > now + SKEW_SECONDS || exp < now - SKEW_SECONDS || exp > iat + LONGEST_LIFE_SECONDS)
      return 'iat and exp must be a reasonable time apart, and now between them';
    return null;
  }
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
