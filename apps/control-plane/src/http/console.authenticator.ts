import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { AdminPrincipal } from '@countersign/accounts/admin-keys';
import { type ConsoleSession, ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { ACCOUNTS } from '@countersign/accounts/records';
import { parseId, renderId, type Uuid } from '@countersign/ids';
import type { Mode } from '@countersign/keys';
import { Database, DatabaseClock, type Executor } from '@countersign/postgres';
import { ControlPlaneSettings } from '@countersign/settings';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AdminAddresses } from './admin-addresses.js';
import { grantedBy, isInstallationRole } from './console-policy.js';
import { cookieOf, isForeignWrite } from './console-requests.js';
import { RefusedRequest } from './errors.js';
import type { Caller } from './route-access.js';

/** The mode of calls for an account. */
const MODE_HEADER = 'countersign-mode';
/** The account that an owner of the installation works for. */
const ACCOUNT_HEADER = 'countersign-account';
const CSRF_HEADER = 'x-csrf-token';

type Request = Pick<FastifyRequest, 'headers' | 'method' | 'clientAddress' | 'consoleSession'>;

/** The holder of the session that a WebSocket handshake brought. */
interface Upgraded {
  readonly caller: Caller;
  readonly session: ConsoleSession;
  /** Of a key: none. */
  readonly keyDigests: readonly [];
}

/** Authenticates requests to `/console/api` by their cookie, and refuses writes that a foreign page could have made. */
@Injectable()
export class ConsoleAuthenticator {
  private readonly origin: string;

  constructor(
    @Inject(Database) private readonly database: Executor,
    private readonly sessions: ConsoleSessionStore,
    private readonly clock: DatabaseClock,
    private readonly addresses: AdminAddresses,
    @Inject(ControlPlaneSettings) { publicBaseUrl }: Pick<ControlPlaneSettings, 'publicBaseUrl'>,
  ) {
    this.origin = new URL(publicBaseUrl).origin;
  }

  /**
   * The holder of the session of the cookie, or null; sets `request.consoleSession`. A key in the Authorization header is
   * ignored. From an address outside ADMIN_ALLOWED_CIDRS an installation role is treated as an unknown cookie. An owner who
   * names an account in the header acts for it. Rejects with DatabaseUnavailable.
   */
  async authenticate(request: Request): Promise<Caller | null> {
    const cookie = cookieOf(request.headers.cookie);
    const session = cookie === null ? null : await this.sessions.find(this.database, cookie);
    if (cookie === null || session === null) return null;
    if (session.accountId === null && !this.addresses.has(request.clientAddress)) return null;
    const caller = callerOf(session, request.headers, await this.namedAccount(session, request));
    await this.sessions.recordUse(this.database, session, this.clock.nowMs());
    request.consoleSession = { ...session, cookie };
    return caller;
  }

  /**
   * As `authenticate`, for a WebSocket handshake. A browser cannot add headers to it: the mode that an account's member works
   * in is the parameter `mode` of its address.
   */
  async authenticateUpgrade({ headers, url = '' }: IncomingMessage, clientAddress: string): Promise<Upgraded | null> {
    const mode = new URLSearchParams(url.split('?', 2)[1]).get('mode') ?? '';
    const request = requestOf({ ...headers, [MODE_HEADER]: mode }, clientAddress);
    const caller = await this.authenticate(request);
    const { consoleSession: session } = request;
    return caller === null || session === null ? null : { caller, session, keyDigests: [] };
  }

  /**
   * The refusal of a handshake that a page of another site could have made; null for others. Browsers send the cookie with
   * any handshake of the same site, and Origin always (RFC 6455, 10.2), so that a handshake without it is refused too.
   */
  judgeUpgrade({ headers }: Pick<IncomingMessage, 'headers'>): RefusedRequest | null {
    const isOwn = headers.origin === this.origin && !isForeignWrite(headers, this.origin);
    return isOwn ? null : forbidden('The handshake does not come from a page of this server.');
  }

  /** The account that an owner works for; null for everybody else, and for an unknown one. */
  private async namedAccount({ role }: ConsoleSession, { headers }: Request): Promise<Uuid | null> {
    const named = headers[ACCOUNT_HEADER];
    const id = role === 'owner' && typeof named === 'string' ? parseId('acct', named) : null;
    return id === null ? null : ((await ACCOUNTS.find(this.database, id))?.id ?? null);
  }

  /** The refusal of a write that a page of another site could have made, by the browser's headers; null for others. */
  judgeOrigin({ method, headers }: Request): RefusedRequest | null {
    if (isRead(method) || !isForeignWrite(headers, this.origin)) return null;
    return forbidden('The request does not come from a page of this server.');
  }

  /** As `judgeOrigin`, and the token of the session is required. */
  judgeWrite(request: Request): RefusedRequest | null {
    const { method, headers, consoleSession } = request;
    if (isRead(method)) return null;
    const token = headers[CSRF_HEADER];
    const isOwn = consoleSession !== null && typeof token === 'string';
    if (!isOwn || !this.sessions.isCsrfToken(consoleSession.cookie, token)) {
      return forbidden('The header X-CSRF-Token must have the csrfToken of GET /console/api/me.');
    }
    return this.judgeOrigin(request);
  }
}

const requestOf = (headers: IncomingHttpHeaders, clientAddress: string): Request => ({
  ...{ headers, method: 'GET', clientAddress, consoleSession: null },
});

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

const forbidden = (message: string): RefusedRequest => new RefusedRequest({ code: 'FORBIDDEN', message });

/** The caller that the holder of a session is, with the quotas and rights of its own. */
function callerOf(
  session: ConsoleSession,
  headers: Request['headers'],
  named: Uuid | null,
): AdminPrincipal | ApiKeyPrincipal {
  const { id, role, memberId, adminKeyId } = session;
  const accountId = session.accountId ?? named;
  if (accountId === null) {
    if (!isInstallationRole(role)) throw new Error('a member without an account has a role of the installation');
    return { kind: 'admin', keyId: memberId ?? adminKeyId, name: actorOf(session), role };
  }
  if (role !== 'owner' && role !== 'developer' && role !== 'viewer') {
    throw new Error('an account has developers and viewers, and owners of the installation act for it');
  }
  const mode: Mode = headers[MODE_HEADER] === 'test' ? 'test' : 'live';
  return {
    keyId: memberId ?? adminKeyId ?? id,
    kind: mode,
    tenant: { accountId, mode },
    scopes: grantedBy(role),
    limits: NO_LIMITS,
  };
}

/** One object, because the limiter remembers the policies of each. */
const NO_LIMITS = {};

/** The actor in the audit log. A member's id tells members of one name, and admin keys of that name, apart. */
export function actorOf({ name, memberId }: { readonly name: string; readonly memberId: Uuid | null }): string {
  return memberId === null ? name : `${name} (${renderId('mbr', memberId)})`;
}
