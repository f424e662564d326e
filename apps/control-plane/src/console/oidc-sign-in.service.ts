import { Injectable } from '@nestjs/common';
import { AdminAddresses } from '../http/admin-addresses.js';
import { type Outcome, refuse, succeed } from '../http/errors.js';
import type { PausedWait } from '../http/pause-deadline.decorator.js';
import { FailureLog } from '../operations/failure-log.js';
import { type FirstStep, FirstStepService } from './first-step.service.js';
import { newChecks, OidcClient } from './oidc.client.js';
import { OidcRecords } from './oidc-records.js';
import type { Visitor } from './visitor.decorator.js';

/** Three requests to the provider at most. */
const PROVIDER_MS = 13_000;

/** The values that a sign-in begins with. */
export interface BegunOidc {
  /** For the cookie of the browser. */
  readonly token: string;
  /** The provider's page. */
  readonly url: string;
}

/** A browser that comes back from the provider. */
export interface ReturnedOidc {
  /** Of its cookie. */
  readonly token: string | null;
  /** Of the redirection, with its question mark. */
  readonly query: string;
}

/** Signs members of the installation in with an OpenID provider. */
@Injectable()
export class OidcSignInService {
  private readonly logFailure: (error: unknown) => void;

  constructor(
    private readonly records: OidcRecords,
    private readonly firstSteps: FirstStepService,
    private readonly client: OidcClient,
    private readonly addresses: AdminAddresses,
    failures: FailureLog,
  ) {
    this.logFailure = failures.about('a sign-in over OpenID Connect');
  }

  async begin(pausedWait: PausedWait): Promise<Outcome<BegunOidc>> {
    if (!this.client.isConfigured) return refuse('NOT_FOUND');
    const checks = newChecks();
    try {
      const url = await pausedWait(PROVIDER_MS, () => this.client.authorizationUrl(checks));
      return succeed({ url, token: await this.records.begin(checks) });
    } catch (error) {
      this.logFailure(describe(error));
      return refuse('SERVICE_UNAVAILABLE', { message: 'The OpenID provider cannot be reached at the moment.' });
    }
  }

  /**
   * The session or second step of the member whom the provider names; null for every failure, so that no answer says which it was.
   */
  async end(visitor: Visitor, { token, query }: ReturnedOidc, pausedWait: PausedWait): Promise<FirstStep | null> {
    if (!this.client.isConfigured || token === null || !this.addresses.has(visitor.clientAddress)) return null;
    const checks = await this.records.take(token);
    if (checks === null) return null;
    const identity = await pausedWait(PROVIDER_MS, () => this.client.identityOf(query, checks)).catch(
      (error: unknown) => {
        this.logFailure(describe(error));
        return null;
      },
    );
    if (identity === null) return null;
    return this.firstSteps.end(visitor, (tx) => this.records.identify(tx, identity, visitor.requestId));
  }
}

/** The kind of a failure. The library's errors hold whole answers, and those hold codes and tokens. */
function describe(error: unknown): Error {
  if (!(error instanceof Error)) return new Error('no error was thrown');
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return new Error(`${code}: ${error.message}`);
}
