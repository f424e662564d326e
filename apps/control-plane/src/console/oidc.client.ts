import type { VerifiedIdentity } from '@countersign/accounts/members';
import { TimedSlots } from '@countersign/resilience';
import { ControlPlaneSettings, type OidcSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { boundedFetch } from './bounded-fetch.js';

const REDIRECT_PATH = '/console/api/sign-in/oidc/callback';
/** Deadline of each request to the provider. */
const REQUEST_SECONDS = 4;
/** After a failed discovery, no other one is tried for so long: anybody may begin a sign-in. */
const DISCOVERY_PAUSE_MS = 1_000;
/** Sign-ins whose tokens are asked for at a time, and others that wait for that: anybody may come back with an invented code. */
const EXCHANGES = { slots: 16, maxWaiting: 64, maxWaitMs: 2_000 } as const;

/** Values that the end of a sign-in must match. */
export interface OidcChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export const newChecks = (): OidcChecks => ({
  state: randomState(),
  nonce: randomNonce(),
  verifier: randomPKCECodeVerifier(),
});

/** The OpenID provider of the installation: authorization code flow with PKCE, state and nonce (OpenID Connect Core, 3.1). */
@Injectable()
export class OidcClient {
  readonly #settings: OidcSettings | null;
  readonly #redirectUri: string;
  readonly #exchanges = new TimedSlots(EXCHANGES);
  #provider: Promise<Configuration> | null = null;

  constructor(@Inject(ControlPlaneSettings) settings: Pick<ControlPlaneSettings, 'oidc' | 'publicBaseUrl'>) {
    this.#settings = settings.oidc;
    this.#redirectUri = settings.publicBaseUrl + REDIRECT_PATH;
  }

  get isConfigured(): boolean {
    return this.#settings !== null;
  }

  /** The address of the provider to which the browser is sent. Rejects when the provider cannot be reached. */
  async authorizationUrl({ state, nonce, verifier }: OidcChecks): Promise<string> {
    const provider = await this.provider();
    const challenge = await calculatePKCECodeChallenge(verifier);
    const url = buildAuthorizationUrl(provider, {
      redirect_uri: this.#redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /**
   * The person whom the provider names, after the checks of state, nonce, issuer, audience, signature and time. Rejects for
   * every deviation.
   *
   * @param query of the redirection back, with its question mark
   */
  identityOf(query: string, checks: OidcChecks): Promise<VerifiedIdentity> {
    return this.#exchanges.run(
      () => this.exchange(query, checks),
      () => {
        throw new Error('too many sign-ins end at a time');
      },
    );
  }

  private async exchange(query: string, { state, nonce, verifier }: OidcChecks): Promise<VerifiedIdentity> {
    const provider = await this.provider();
    const tokens = await authorizationCodeGrant(provider, new URL(this.#redirectUri + query), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('the provider sent no ID token');
    const { iss: issuer, sub: subject } = claims;
    const isComplete = claims['email'] !== undefined || provider.serverMetadata().userinfo_endpoint === undefined;
    const person = isComplete ? claims : await fetchUserInfo(provider, tokens.access_token, subject);
    const { email, email_verified: isVerified } = person;
    return { issuer, subject, verifiedEmail: isVerified === true && typeof email === 'string' ? email : null };
  }

  /** Read once; read again some time after a failure. */
  private provider(): Promise<Configuration> {
    if (this.#settings === null) throw new Error('no OpenID provider is configured');
    if (this.#provider === null) {
      this.#provider = discover(this.#settings);
      this.#provider.catch(() => setTimeout(() => (this.#provider = null), DISCOVERY_PAUSE_MS).unref());
    }
    return this.#provider;
  }
}

function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const url = new URL(issuer);
  // The settings allow http on loopback alone.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed, not because it goes away
  const overLoopback = url.protocol === 'http:' ? [allowInsecureRequests] : [];
  // Without the second the library trusts the TLS of the token endpoint instead of the signature.
  const execute = [...overLoopback, enableNonRepudiationChecks];
  return discovery(url, clientId, undefined, ClientSecretBasic(clientSecret), {
    ...{ execute, timeout: REQUEST_SECONDS },
    [customFetch]: boundedFetch,
  });
}
