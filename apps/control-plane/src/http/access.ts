import type { AccountDirectory } from '@countersign/accounts';
import { digestsEqual, parseApiKey, type ServerKeys } from '@countersign/keys';
import type { TlsSettings } from '@countersign/settings';
import type { FastifyRequest } from 'fastify';
import type { AllowedMethods } from './allowed-methods.js';
import { parseRanges, readProxiedRequest, type AddressRange } from './client-address.js';
import { RefusedRequest, type Refusal } from './errors.js';
import type { Caller, RouteAccess } from './route-access.js';

export interface GatekeeperOptions {
  readonly directory: Pick<AccountDirectory, 'authenticate'>;
  readonly keys: ServerKeys;
  readonly adminKey: string;
  readonly tls: TlsSettings;
  readonly methods: AllowedMethods;
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;
const UNAUTHORIZED = new RefusedRequest({ code: 'UNAUTHORIZED' }, { 'www-authenticate': 'Bearer' });

/**
 * Decides about a request by its address and headers alone, before its body is read: TLS, then the key, then whether
 * there is such a route, then the scope. So who has no key learns nothing, not even which routes exist.
 */
export class Gatekeeper {
  private readonly trustedProxies: readonly AddressRange[] | null;
  private readonly adminDigest: Buffer;

  constructor(private readonly options: GatekeeperOptions) {
    const { tls, keys, adminKey } = options;
    this.trustedProxies = tls.mode === 'proxy' ? parseRanges(tls.trustedProxies) : null;
    this.adminDigest = keys.digest('api-key', adminKey);
  }

  /** Null when the request may go on; `request.caller` is then set. Rejects with DatabaseUnavailable. */
  async judge(request: FastifyRequest): Promise<RefusedRequest | null> {
    const untrusted = this.judgeTransport(request);
    if (untrusted !== null) return untrusted;
    // Of a request that no route matched, and of one whose address cannot be read, there is no configuration.
    const route = request.is404 ? undefined : request.routeOptions.config.route;
    const path = pathOf(request.url);
    if (route?.access === 'public' || (route === undefined && !isUnderVersion(path))) {
      return route === undefined ? this.noSuchRoute(path) : null;
    }
    request.caller = await this.authenticate(request.headers.authorization);
    if (request.caller === null) return UNAUTHORIZED;
    return route === undefined ? this.noSuchRoute(path) : judgeScope(request.caller, route);
  }

  private judgeTransport(request: FastifyRequest): RefusedRequest | null {
    const peer = request.raw.socket.remoteAddress ?? '';
    request.clientAddress = peer;
    if (this.trustedProxies !== null) {
      const headers = {
        forwardedProto: textOf(request.headers['x-forwarded-proto']),
        forwardedFor: textOf(request.headers['x-forwarded-for']),
      };
      const proxied = readProxiedRequest(peer, headers, this.trustedProxies);
      if (!proxied.secure) return new RefusedRequest({ code: 'HTTPS_REQUIRED' });
      request.clientAddress = proxied.clientAddress;
    }
    const hostless = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    return hostless ? refused('MALFORMED_REQUEST', 'The request has no Host header.') : null;
  }

  private async authenticate(authorization: string | undefined): Promise<Caller | null> {
    const [, key] = BEARER.exec(authorization ?? '') ?? [];
    const parsed = key === undefined ? null : parseApiKey(key);
    if (key === undefined || parsed === null) return null;
    if (parsed.kind !== 'admin') return this.options.directory.authenticate(key);
    return digestsEqual(this.options.keys.digest('api-key', key), this.adminDigest) ? { kind: 'admin' } : null;
  }

  private noSuchRoute(path: string): RefusedRequest {
    const methods = this.options.methods.of(path);
    if (methods.length === 0) return refused('NOT_FOUND');
    return new RefusedRequest({ code: 'METHOD_NOT_ALLOWED' }, { allow: methods.join(', ') });
  }
}

function judgeScope(caller: Caller, route: RouteAccess): RefusedRequest | null {
  if (route.access === 'public') return null;
  if (caller.kind === 'admin') return refused('FORBIDDEN', 'An admin key may not be used here.');
  return caller.scopes.includes(route.scope)
    ? null
    : refused('FORBIDDEN', `This API key lacks the scope ${route.scope}.`);
}

const refused = (code: Refusal['code'], message?: string): RefusedRequest =>
  new RefusedRequest(message === undefined ? { code } : { code, message });

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header;

/** The path as the router reads it: without the query, escapes decoded; as it is when they cannot be. */
function pathOf(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const isUnderVersion = (path: string): boolean => path === '/v1' || path.startsWith('/v1/');
