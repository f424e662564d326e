import type { IncomingMessage } from 'node:http';
import type { AccountDirectory } from '@countersign/accounts/accounts';
import type { AdminKeyDirectory, AdminPrincipal } from '@countersign/accounts/admin-keys';
import type { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import type { TlsSettings } from '@countersign/settings';
import type { FastifyRequest } from 'fastify';
import type { AllowedMethods } from './allowed-methods.js';
import { inRanges, parseRanges, type AddressRange } from '../targets/address-ranges.js';
import { mayCall, refusedParameter } from './admin-policy.js';
import { readProxiedRequest } from './client-address.js';
import { RefusedRequest, type Refusal } from './errors.js';
import type { LimitHeaders } from './limit-headers.js';
import type { Limits } from './limits.js';
import type { Caller, RouteAccess } from './route-access.js';

export interface RequestAuthorizerOptions {
  readonly directory: Pick<AccountDirectory, 'authenticate'>;
  readonly adminKeys: Pick<AdminKeyDirectory, 'authenticate'>;
  /** Client addresses from which admin keys are accepted, as CIDR texts; empty for any. */
  readonly adminAllowedCidrs: readonly string[];
  readonly keys: ServerKeys;
  readonly tls: TlsSettings;
  readonly methods: AllowedMethods;
  readonly limits: Limits;
  /** Called for every request with a valid account key. */
  readonly onKeyUsed: (keyId: Uuid) => void;
  /** Called for every request with a valid stored admin key. */
  readonly onAdminKeyUsed: (keyId: Uuid) => void;
}

/** Decision about a WebSocket upgrade. */
export type UpgradeVerdict = AdmittedUpgrade | RefusedUpgrade;

export interface AdmittedUpgrade {
  readonly refused: null;
  /** Null without a key: the client must authenticate after the upgrade. */
  readonly caller: Caller | null;
  /** Digests of the key in hex, one for each version of the master key, to detect a later rotation. */
  readonly keyDigests: readonly string[];
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

/** The admin key of the environment has no id. */
const ROOT_CALLER = 'root';
const ADMIN_KEY_PREFIX = 'csk_admin_';
const BEARER = /^Bearer +([\x21-\x7e]+)$/i;
const TOO_MANY_WRONG_KEYS = 'Too many calls without a valid API key came from this address.';
const UNAUTHORIZED = new RefusedRequest({ code: 'UNAUTHORIZED' }, { 'www-authenticate': 'Bearer' });

/**
 * Authorizes a request by its address and headers alone, before its body is read: TLS, then the key, then its limits,
 * then the route, then the scope. So a client without a key learns nothing, not even which routes exist.
 */
export class RequestAuthorizer {
  private readonly trustedProxies: readonly AddressRange[] | null;
  /** Null for any address. */
  private readonly adminAddresses: readonly AddressRange[] | null;

  constructor(private readonly options: RequestAuthorizerOptions) {
    const { tls, adminAllowedCidrs } = options;
    this.trustedProxies = tls.mode === 'proxy' ? parseRanges(tls.trustedProxies) : null;
    this.adminAddresses = adminAllowedCidrs.length === 0 ? null : parseRanges(adminAllowedCidrs);
  }

  /**
   * Null when the request is authorized; `request.caller` is then set, and `request.limitHeaders` wherever a quota has
   * counted it. Rejects with DatabaseUnavailable.
   */
  async authorize(request: FastifyRequest): Promise<RefusedRequest | null> {
    const untrusted = this.judgeTransport(request);
    if (untrusted !== null) return untrusted;
    // A request without a matching route, or with an undecodable path, has no route configuration.
    const route = request.is404 ? undefined : request.routeOptions.config.route;
    if (route?.access === 'public') return null;
    if (route === undefined && !isVersioned(pathOf(request.url))) return this.judgeUnrouted(request);
    const caller = await this.authenticate(request.headers.authorization, request.clientAddress);
    request.caller = caller;
    if (caller === null) return this.refuseKey(request);
    request.callerId = caller.keyId ?? ROOT_CALLER;
    this.reportKeyUse(caller);
    const { headers, refusal } = await this.options.limits.countCall(caller, route, sessionIdOf(request.params));
    request.limitHeaders = headers;
    if (refusal !== null) return new RefusedRequest(refusal);
    return route === undefined ? this.judgeUnrouted(request) : judgeAccess(caller, route, request.query);
  }

  /**
   * Authorizes a WebSocket upgrade: TLS, then the handshake (`wrong`), then the key, if one was sent. Admin keys may
   * connect too. Rejects with DatabaseUnavailable.
   */
  async authorizeUpgrade(request: IncomingMessage, wrong: RefusedRequest | null): Promise<UpgradeVerdict> {
    const { clientAddress, refused: untrusted } = this.transportOf(request);
    const refusal = untrusted ?? wrong;
    if (refusal !== null) return { refused: refusal, clientAddress, limitHeaders: null };
    const { limits, keys } = this.options;
    const { authorization } = request.headers;
    if (authorization === undefined) {
      const limitHeaders = await limits.ofAddress(clientAddress);
      return { refused: null, caller: null, keyDigests: [], clientAddress, limitHeaders };
    }
    const caller = await this.authenticate(authorization, clientAddress);
    if (caller === null) {
      const { headers, refused } = await this.countWrongKey(clientAddress);
      return { refused, clientAddress, limitHeaders: headers };
    }
    this.reportKeyUse(caller);
    const { headers: limitHeaders, refusal: exhausted } = await limits.countCall(caller, REALTIME, undefined);
    if (exhausted !== null) return { refused: new RefusedRequest(exhausted), clientAddress, limitHeaders };
    const forbidden = caller.kind === 'admin' ? null : judgeAccess(caller, REALTIME, null);
    if (forbidden !== null) return { refused: forbidden, clientAddress, limitHeaders };
    const keyDigests = keys.digests('api-key', keyOf(authorization) ?? '').map((digest) => digest.toString('hex'));
    return { refused: null, caller, keyDigests, clientAddress, limitHeaders };
  }

  private async refuseKey(request: FastifyRequest): Promise<RefusedRequest> {
    const { headers, refused } = await this.countWrongKey(request.clientAddress);
    request.limitHeaders = headers;
    return refused;
  }

  private async countWrongKey(address: string): Promise<{ headers: LimitHeaders; refused: RefusedRequest }> {
    const { headers, refusal } = await this.options.limits.countWrongKey(address);
    const refused = refusal === null ? UNAUTHORIZED : new RefusedRequest({ ...refusal, message: TOO_MANY_WRONG_KEYS });
    return { headers, refused };
  }

  private judgeUnrouted({ method, url }: FastifyRequest): RefusedRequest {
    const methods = this.options.methods.of(pathOf(url));
    // The path supports the method, so it was the path that could not be decoded, as in `%E0%A4%A`.
    if (methods.length === 0 || methods.includes(method)) return refused('NOT_FOUND');
    return new RefusedRequest({ code: 'METHOD_NOT_ALLOWED' }, { allow: methods.join(', ') });
  }

  private judgeTransport(request: FastifyRequest): RefusedRequest | null {
    const { clientAddress, refused } = this.transportOf(request.raw);
    request.clientAddress = clientAddress;
    // A request whose path cannot be decoded lacks the decorated properties.
    request.limitHeaders = null;
    return refused;
  }

  private transportOf({ socket, headers, httpVersion }: IncomingMessage): {
    readonly clientAddress: string;
    readonly refused: RefusedRequest | null;
  } {
    let clientAddress = socket.remoteAddress ?? '';
    if (this.trustedProxies !== null) {
      const forwarded = {
        forwardedProto: textOf(headers['x-forwarded-proto']),
        forwardedFor: textOf(headers['x-forwarded-for']),
      };
      const proxied = readProxiedRequest(clientAddress, forwarded, this.trustedProxies);
      if (!proxied.secure) return { clientAddress, refused: new RefusedRequest({ code: 'HTTPS_REQUIRED' }) };
      clientAddress = proxied.clientAddress;
    }
    const hostless = httpVersion === '1.1' && headers.host === undefined;
    const hostlessRefused = hostless ? refused('MALFORMED_REQUEST', 'The request has no Host header.') : null;
    return { clientAddress, refused: hostlessRefused };
  }

  /** From an address outside ADMIN_ALLOWED_CIDRS an admin key is treated as an unknown key. */
  private async authenticate(authorization: string | undefined, clientAddress: string): Promise<Caller | null> {
    const key = keyOf(authorization);
    if (key === undefined) return null;
    if (!key.startsWith(ADMIN_KEY_PREFIX)) return this.options.directory.authenticate(key);
    if (this.adminAddresses !== null && !inRanges(clientAddress, this.adminAddresses)) return null;
    return this.options.adminKeys.authenticate(key);
  }

  private reportKeyUse(caller: Caller): void {
    if (caller.kind !== 'admin') this.options.onKeyUsed(caller.keyId);
    else if (caller.keyId !== null) this.options.onAdminKeyUsed(caller.keyId);
  }
}

type KeyedRoute = Exclude<RouteAccess, { access: 'public' }>;

function judgeAccess(caller: Caller, route: KeyedRoute, query: unknown): RefusedRequest | null {
  if (route.access === 'admin') {
    if (caller.kind === 'admin') return judgeRole(caller, route, query);
    return refused('FORBIDDEN', 'Only an admin key may be used here.');
  }
  if (caller.kind === 'admin') return refused('FORBIDDEN', 'An admin key may not be used here.');
  const { scope } = route;
  return caller.scopes.includes(scope) ? null : refused('FORBIDDEN', `This API key lacks the scope ${scope}.`);
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

const keyOf = (authorization: string | undefined): string | undefined => BEARER.exec(authorization ?? '')?.[1];

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

const isVersioned = (path: string): boolean => path === '/v1' || path.startsWith('/v1/');

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
