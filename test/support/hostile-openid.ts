import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const FOREIGN_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

export interface Forged {
  /** Replace those of a right ID token. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: KeyObject | null;
  readonly noIdToken?: boolean;
  /** Replaces the whole answer of the token endpoint. */
  readonly answer?: string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(header: object, claims: object, key: KeyObject | null): string {
  const content = `${encode(header)}.${encode(claims)}`;
  if (key === null) return `${content}.`;
  return `${content}.${createSign('sha256').update(content).sign(key).toString('base64url')}`;
}

/** A provider that answers the token request as a test says: what no honest provider does. */
export class HostileOpenId {
  forged: Forged = {};
  /** The nonce of the last authorization request. */
  nonce = '';
  /** The verifiers that token requests had. */
  readonly verifiers: (string | null)[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (incoming, response) => {
      void (async () => {
        let body = '';
        for await (const chunk of incoming) body += String(chunk);
        response.setHeader('content-type', 'application/json').end(this.answer(incoming.url ?? '', body));
      })();
    });
  }

  static async start(): Promise<HostileOpenId> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HostileOpenId(server);
  }

  get issuer(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(url: string, body: string): string {
    const { issuer } = this;
    if (url.startsWith('/.well-known/openid-configuration')) {
      return JSON.stringify({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
      });
    }
    if (url.startsWith('/keys')) {
      return JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
    }
    this.verifiers.push(new URLSearchParams(body).get('code_verifier'));
    return this.forged.answer ?? this.tokens();
  }

  private tokens(): string {
    const { claims = {}, header = {}, key = privateKey, noIdToken = false } = this.forged;
    const now = Math.floor(Date.now() / 1_000);
    const right = {
      ...{ iss: this.issuer, aud: 'console', sub: 'eve', nonce: this.nonce, iat: now, exp: now + 60 },
      ...{ email: 'ann@example.com', email_verified: true },
    };
    const idToken = signed({ alg: 'RS256', kid: 'k', ...header }, { ...right, ...claims }, key);
    return JSON.stringify({ access_token: 'x', token_type: 'Bearer', ...(noIdToken ? {} : { id_token: idToken }) });
  }
}
