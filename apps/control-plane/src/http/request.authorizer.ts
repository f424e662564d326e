import type { IncomingMessage } from 'node:http';
import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { ROOT_NAME, type AdminPrincipal } from '@countersign/accounts/admin-keys';
import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { refuseUnconfirmed } from './confirmation.js';
import { ConsoleAuthenticator } from './console.authenticator.js';
import { mayCallForAccount } from './console-policy.js';
import { isConsoleRequest } from './console-requests.js';
import { AllowedMethods } from './allowed-methods.js';
import { mayCall, refusedParameter } from './admin-policy.js';
import { RefusedRequest, type Refusal } from './errors.js';
import { KeyAuthenticator } from './key-authenticator.js';
import type { LimitHeaders } from './limit-headers.js';
import { Limits } from './limits.js';
import { isLargeForSignIn, MAX_SIGN_IN_OCTETS } from './request-body.js';
import { RequestTransport } from './request-transport.js';
import type { Caller, RouteAccess } from './route-access.js';

/** Decision about a WebSocket upgrade. */
export type UpgradeVerdict = AdmittedUpgrade | RefusedUpgrade;

export interface AdmittedUpgrade {
  readonly refused: null;
  /** Null without a key: the client must authenticate after the upgrade. */
  readonly caller: Caller | null;
  /** Digests of the key in hex, one for each version of the master key, to detect a later rotation. */
  readonly keyDigests: readonly string[];
  /** Of the console, instead of a key; null otherwise. */
  readonly session: ConsoleSession | null;
  readonly clientAddress: string;
  readonly limitHeaders: LimitHeaders;
}

export interface RefusedUpgrade {
  readonly refused: RefusedRequest;
  readonly clientAddress: string;
  /** Null when no quota counted the request. */
  readonly limitHeaders: LimitHeaders | null;
}

const REALTIME: Extract<RouteAccess, { access: 'key' }> = { access: 'key', scope: 'realtime', body: 'none' };

/** A WebSocket handshake. */
export interface Upgrade {
  /** Its fault; null without one. */
  readonly wrong: RefusedRequest | null;
  /** Whether it is one of the console, which a cookie authorizes, and no key. */
  readonly byCookie: boolean;
}

const NO_ACCOUNT = 'This call is for one account: an owner names an existing one in the header Countersign-Account.';
const SIGNED_OUT = RefusedRequest.withHeaders(
  { code: 'UNAUTHORIZED', message: 'Sign in first: this call needs the cookie of a session of the console.' },
  { 'www-authenticate': 'Cookie' },
);
const LARGE_SIGN_IN = RefusedRequest.withHeaders(
  {
    code: 'PAYLOAD_TOO_LARGE',
    message: `The body of a sign-in has at most ${MAX_SIGN_IN_OCTETS} octets, and its Content-Length.`,
  },
  { connection: 'close' },
);

/**
 * Authorizes a request by its address and headers alone, before its body is read: TLS, then the key, then its limits,
 * then the route, then the scope. So a client without a key learns nothing, not even which routes exist.
 */
@Injectable()
export class RequestAuthorizer {
  constructor(
    private readonly transport: RequestTransport,
    private readonly keys: KeyAuthenticator,
    private readonly methods: AllowedMethods,
    private readonly limits: Limits,
    @Inject(ConsoleAuthenticator)
    private readonly console: Pick<
      ConsoleAuthenticator,
      'authenticate' | 'authenticateUpgrade' | 'judgeOrigin' | 'judgeUpgrade' | 'judgeWrite'
    >,
  ) {}

  /**
   * Null when the request is authorized; `request.caller` is then set, and `request.limitHeaders` wherever a quota has
   * counted it. Rejects with DatabaseUnavailable.
   */
  async authorize(request: FastifyRequest): Promise<RefusedRequest | null> {
    const untrusted = this.judgeTransport(request);
    if (untrusted !== null) return untrusted;
    // A request without a matching route has no route configuration.
    const route = request.is404 ? undefined : request.routeOptions.config.route;
    if (route?.access === 'public') return null;
    if (route === undefined && !isVersioned(pathOf(request.url))) return this.judgeUnrouted(request);
    if (route?.access === 'sign-in') return this.judgeSignIn(request);
    const caller = await this.callerOf(request);
    request.caller = caller;
    if (caller === null) return this.refuseKey(request);
    request.connectionOwner = connectionOwnerOf(caller);
    if (needsDigests(route, request.method))
      request.keyDigests = this.keys.digestsOf(request.headers.authorization ?? '');
    const { headers, refusal, isUsedUp } = await this.limits.countCall(caller, route, sessionIdOf(request.params));
    request.limitHeaders = headers;
    request.isQuotaUsedUp = isUsedUp;
    if (refusal !== null) return new RefusedRequest(refusal);
    const forged = request.consoleSession === null ? null : this.console.judgeWrite(request);
    if (forged !== null) return forged;
    return route === undefined ? this.judgeUnrouted(request) : judgeAccess(request, caller, route);
  }

  /**
   * Null when the request, whose body has arrived, is still authorized: a body may take 15 s, in which its key, its session or
   * their rights may have ended. Counts for no quota. Rejects with DatabaseUnavailable.
   */
  async authorizeAgain(request: FastifyRequest): Promise<RefusedRequest | null> {
    const { route } = request.routeOptions.config;
    if (route === undefined || route.access === 'public' || route.access === 'sign-in') return null;
    request.consoleSession = null;
    const caller = await this.callerOf(request);
    request.caller = caller;
    return caller === null ? this.refuseKey(request) : judgeAccess(request, caller, route);
  }

  /** By the cookie at `/console/api` and by the key everywhere else, never by the other. */
  private callerOf(request: FastifyRequest): Promise<Caller | null> {
    if (isConsoleRequest(request.raw)) return this.console.authenticate(request);
    return this.keys.authenticate(request.headers.authorization, request.clientAddress);
  }

  /** Anybody may send the body of a sign-in: it is small, and its address has a quota of them. */
  private async judgeSignIn(request: FastifyRequest): Promise<RefusedRequest | null> {
    const forged = this.console.judgeOrigin(request);
    if (forged !== null || request.method !== 'POST') {
      request.limitHeaders = await this.limits.ofAddress(request.clientAddress);
      return forged;
    }
    const { headers, refusal } = await this.limits.countSignInPost(request.clientAddress);
    request.limitHeaders = headers;
    if (refusal !== null) return new RefusedRequest(refusal);
    return isLargeForSignIn(request.headers) ? LARGE_SIGN_IN : null;
  }

  /**
   * Authorizes a WebSocket upgrade: TLS, then the handshake, then the key, if one was sent, or for the console the origin
   * of the page and the cookie. Admin keys may connect too. Rejects with DatabaseUnavailable.
   */
  async authorizeUpgrade(request: IncomingMessage, { wrong, byCookie }: Upgrade): Promise<UpgradeVerdict> {
    const { clientAddress, refused: untrusted } = this.transport.of(request);
    const forged = byCookie ? this.console.judgeUpgrade(request) : null;
    const refusal = untrusted ?? wrong ?? forged;
    if (refusal !== null) return { refused: refusal, clientAddress, limitHeaders: null };
    if (byCookie) {
      const signedIn = await this.console.authenticateUpgrade(request, clientAddress);
      return this.judgeUpgrade(signedIn, clientAddress, SIGNED_OUT);
    }
    const { authorization } = request.headers;
    if (authorization === undefined) {
      const limitHeaders = await this.limits.ofAddress(clientAddress);
      return { refused: null, caller: null, keyDigests: [], session: null, clientAddress, limitHeaders };
    }
    const caller = await this.keys.authenticate(authorization, clientAddress);
    const keyDigests = this.keys.digestsOf(authorization);
    return this.judgeUpgrade(caller === null ? null : { caller, keyDigests, session: null }, clientAddress);
  }

  /** @param unknown the refusal of an unknown holder; that of a wrong key by default */
  private async judgeUpgrade(
    holder: (Pick<AdmittedUpgrade, 'keyDigests' | 'session'> & { readonly caller: Caller }) | null,
    clientAddress: string,
    unknown?: RefusedRequest,
  ): Promise<UpgradeVerdict> {
    if (holder === null) {
      const { headers, refused } = await this.limits.refuseKey(clientAddress);
      const refusal = refused.refusal.code === 'UNAUTHORIZED' ? (unknown ?? refused) : refused;
      return { refused: refusal, clientAddress, limitHeaders: headers };
    }
    const { caller, session } = holder;
    const { headers: limitHeaders, refusal: exhausted } = await this.limits.countCall(caller, REALTIME, undefined);
    if (exhausted !== null) return { refused: new RefusedRequest(exhausted), clientAddress, limitHeaders };
    const isKey = caller.kind !== 'admin' && session === null;
    const forbidden = isKey ? judgeScope(caller, REALTIME) : null;
    if (forbidden !== null) return { refused: forbidden, clientAddress, limitHeaders };
    return { refused: null, ...holder, clientAddress, limitHeaders };
  }

  private async refuseKey(request: FastifyRequest): Promise<RefusedRequest> {
    const { headers, refused } = await this.limits.refuseKey(request.clientAddress);
    request.limitHeaders = headers;
    request.isQuotaUsedUp = refused.refusal.code === 'RATE_LIMITED';
    return isConsoleRequest(request.raw) && refused.refusal.code === 'UNAUTHORIZED' ? SIGNED_OUT : refused;
  }

  private judgeUnrouted({ method, url }: FastifyRequest): RefusedRequest {
    const methods = this.methods.of(pathOf(url));
    // A path that supports the method was spelled in a way in which the router found no route, as with `%2F`.
    if (methods.length === 0 || methods.includes(method)) return refused('NOT_FOUND');
    return RefusedRequest.withHeaders({ code: 'METHOD_NOT_ALLOWED' }, { allow: methods.join(', ') });
  }

  private judgeTransport(request: FastifyRequest): RefusedRequest | null {
    const { clientAddress, refused } = this.transport.of(request.raw);
    request.clientAddress = clientAddress;
    return refused;
  }
}

/** The admin key of the environment has no id. */
const connectionOwnerOf = (caller: Caller): string =>
  caller.kind === 'admin' ? (caller.keyId ?? ROOT_NAME) : caller.tenant.accountId;

type KeyedRoute = Exclude<RouteAccess, { access: 'public' | 'sign-in' }>;

function judgeAccess(
  { method, query, consoleSession }: FastifyRequest,
  caller: Caller,
  route: KeyedRoute,
): RefusedRequest | null {
  // Another spelling of the path leads to the route too, with a key.
  if (route.access === 'console') return consoleSession === null ? refused('NOT_FOUND') : null;
  if (route.access === 'admin') {
    if (caller.kind === 'admin') return judgeRole(caller, route, query);
    const who = consoleSession === null ? 'Only an admin key may be used' : 'Only members of the installation may be';
    return refused('FORBIDDEN', `${who} here.`);
  }
  if (caller.kind === 'admin') {
    return refused('FORBIDDEN', consoleSession === null ? 'An admin key may not be used here.' : NO_ACCOUNT);
  }
  if (consoleSession === null) return judgeScope(caller, route);
  const isAllowed = mayCallForAccount(consoleSession.role, method, route.scope) && route.keyOnly !== true;
  if (!isAllowed) return refused('FORBIDDEN', `The role ${consoleSession.role} may not make this call.`);
  if (caller.kind !== 'live' || route.confirmedWith === undefined) return null;
  const unconfirmed = refuseUnconfirmed(consoleSession, route.confirmedWith);
  return unconfirmed === null ? null : new RefusedRequest(unconfirmed.refusal);
}

function judgeScope(
  { scopes }: ApiKeyPrincipal,
  { scope }: Extract<RouteAccess, { access: 'key' }>,
): RefusedRequest | null {
  return scopes.includes(scope) ? null : refused('FORBIDDEN', `This API key lacks the scope ${scope}.`);
}

function judgeRole(
  { role }: AdminPrincipal,
  { needs, restricted = [] }: Extract<RouteAccess, { access: 'admin' }>,
  query: unknown,
): RefusedRequest | null {
  if (!mayCall(role, needs)) return refused('FORBIDDEN', `The role ${role} may not make this call.`);
  const parameter = refusedParameter(role, restricted, query);
  if (parameter === null) return null;
  const { name, value } = parameter;
  const what = value === undefined ? name : `${name}=${value}`;
  return refused('FORBIDDEN', `The role ${role} may not use the parameter ${what}.`);
}

const refused = (code: Refusal['code'], message?: string): RefusedRequest =>
  new RefusedRequest(message === undefined ? { code } : { code, message });

export const isVersioned = (path: string): boolean => path === '/v1' || path.startsWith('/v1/');

/** The session id in the path, on routes that have one. */
function sessionIdOf(params: unknown): string | undefined {
  const sessionId =
    typeof params === 'object' && params !== null && 'sessionId' in params ? params.sessionId : undefined;
  return typeof sessionId === 'string' ? sessionId : undefined;
}

/**
 * The path as the router reads it: without query, scheme and host, escapes decoded; unchanged when they cannot be
 * decoded.
 */
function pathOf(url: string): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Whether the transaction of the call looks at the key again. */
const needsDigests = (route: RouteAccess | undefined, method: string): boolean =>
  route?.access === 'admin'
    ? method !== 'GET' && method !== 'HEAD'
    : route?.access === 'key' && route.confirmedWith !== undefined;
