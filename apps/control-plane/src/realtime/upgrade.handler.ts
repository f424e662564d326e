import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Tenant } from '@countersign/keys';
import { type WebSocket, WebSocketServer } from 'ws';
import type { AdmittedUpgrade, RequestAuthorizer, RefusedUpgrade, UpgradeVerdict } from '../http/request.authorizer.js';
import { type ErrorLog, refusedBy } from '../http/error-answers.js';
import { ERRORS, RefusedRequest } from '../http/errors.js';
import type { Limits } from '../http/limits.js';
import { rawAnswer, refuseRaw } from '../http/raw-refusal.js';
import type { Caller } from '../http/route-access.js';
import { UnauthenticatedConnections } from '../http/unauthenticated-connections.js';
import { type Listener, MAX_CHANNELS } from './connection-rules.js';
import { judgeHandshake, REALTIME_PATH, SUBPROTOCOL } from './handshake.js';
import { HEARTBEAT_MS, Heartbeats } from './heartbeats.js';
import { AccountConnectionQuota, SubscriptionQuota } from './account-connection-quota.js';
import { BufferedOctets } from './buffered-octets.js';
import { RealtimeConnection } from './realtime-connection.js';

/** Clients reconnect within this time after a shutdown, at random times. */
const RECONNECT_WITHIN_MS = 5_000;
/** Time for clients to answer the close frame. */
const CLOSE_WAIT_MS = 2_000;

/**
 * Subscription limit of the keys of one account and mode: the connection limit of the process, and at least the
 * channels of two full connections.
 */
const subscriptionsOf = (maxConnections: number): number => Math.max(maxConnections, 2 * MAX_CHANNELS);

/** Limits of connections that have not sent their ticket; one more evicts an older one. */
const UNAUTHENTICATED = { connections: 2_000, connectionsOfNetwork: 100 };

const WEBSOCKETS = {
  noServer: true,
  /** Contract, Realtime: a frame has 16 KiB. */
  maxPayload: 16 * 1024,
  /** Frames sent octet by octet, and messages of tiny fragments, would be buffered as that many objects. */
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  perMessageDeflate: false,
  /** A client that sends pings without reading the pongs is closed. */
  maxPendingAutoPongs: 16,
  /** Wait for the answer to a close frame, also from a slow reader, in ms. */
  closeTimeout: 15_000,
  handleProtocols: (): string => SUBPROTOCOL,
} as const;

export interface UpgradeHandlerOptions {
  readonly authorizer: Pick<RequestAuthorizer, 'authorizeUpgrade'>;
  readonly limits: Pick<Limits, 'ofAddress'>;
  readonly publicBaseUrl: string;
  /** Headers of every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  /** Limit of this process. */
  readonly maxConnections: number;
  readonly newRequestId: () => string;
  readonly log: ErrorLog;
  /** Called for every connection that has closed, with its code. */
  readonly onClosed: (code: number) => void;
}

/**
 * Handles WebSocket upgrades: each is authorized like any request before the handshake. Refusals are responses of the
 * HTTP API; an admitted upgrade becomes a connection, which is counted until it closes.
 */
export class UpgradeHandler {
  readonly connections = new Set<RealtimeConnection>();
  readonly #webSockets = new WebSocketServer(WEBSOCKETS);
  readonly #heartbeats = new Heartbeats(this.connections, nowMs);
  /** Further headers of the responses to pending upgrades. */
  readonly #headers = new WeakMap<IncomingMessage, readonly string[]>();
  #handleConnection: (connection: RealtimeConnection) => void = () => undefined;
  readonly #unauthenticated = new UnauthenticatedConnections<RealtimeConnection>(UNAUTHENTICATED);
  readonly #connectionQuota: AccountConnectionQuota;
  readonly #subscriptions: SubscriptionQuota;
  readonly #buffered = new BufferedOctets();
  #closed = false;

  constructor(private readonly o: UpgradeHandlerOptions) {
    this.#connectionQuota = new AccountConnectionQuota(o.maxConnections);
    this.#subscriptions = new SubscriptionQuota(subscriptionsOf(o.maxConnections));
    this.#webSockets.on('headers', (headers, request) => headers.push(...(this.#headers.get(request) ?? [])));
  }

  onConnection(handleConnection: (connection: RealtimeConnection) => void): void {
    this.#handleConnection = handleConnection;
  }

  /** Handles all upgrades of a server. */
  attach(server: Pick<Server, 'on'>): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined);
      void this.admit(request, socket, head);
    });
    this.#heartbeats.start();
  }

  /** Refuses new connections and closes all open ones; resolves when they have closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#heartbeats.stop();
    for (const connection of this.connections) connection.dismiss(Math.round(Math.random() * RECONNECT_WITHIN_MS));
    await this.waitUntilEmpty(CLOSE_WAIT_MS);
    for (const connection of this.connections) connection.drop();
    await this.waitUntilEmpty(CLOSE_WAIT_MS);
  }

  private async waitUntilEmpty(withinMs: number): Promise<void> {
    const untilMs = nowMs() + withinMs;
    while (this.connections.size > 0 && nowMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  private async admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const id = this.o.newRequestId();
    const verdict = this.applyLimits(await this.authorize(request, id));
    if (verdict.refused !== null) {
      await this.refuse(socket, verdict, id);
      return;
    }
    // No await between the limit check and the increment, so concurrent upgrades cannot exceed the limit.
    if (socket.destroyed) return;
    const fixed = {
      'X-Request-Id': id,
      'Cache-Control': 'no-store',
      ...this.o.securityHeaders,
      ...verdict.limitHeaders,
    };
    this.#headers.set(
      request,
      Object.entries(fixed).map(([name, value]) => `${name}: ${value}`),
    );
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.openConnection(webSocket, verdict));
  }

  private async authorize(request: IncomingMessage, id: string): Promise<UpgradeVerdict> {
    try {
      return await this.o.authorizer.authorizeUpgrade(request, judgeHandshake(request));
    } catch (error) {
      const refused = refusedBy(error);
      if (ERRORS[refused.refusal.code].status >= 500) {
        this.o.log.failed(error, { id, method: 'GET', route: REALTIME_PATH });
      }
      return { refused, clientAddress: request.socket.remoteAddress ?? '', limitHeaders: null };
    }
  }

  private applyLimits(verdict: UpgradeVerdict): UpgradeVerdict {
    const full = verdict.refused === null ? this.refuseOverLimit(verdict) : null;
    return full === null ? verdict : { ...verdict, refused: full };
  }

  private refuseOverLimit({ caller }: AdmittedUpgrade): RefusedRequest | null {
    const { size } = this.connections;
    if (this.#closed || !(this.#connectionQuota.hasCapacity(size) || this.evictUnauthenticated())) return BUSY;
    if (caller === null || caller.kind === 'admin') return null;
    return this.#connectionQuota.allows(caller.tenant, size) ? null : TOO_MANY_OF_ACCOUNT;
  }

  /** Frees a connection at the total limit by closing one that has not authenticated. False when there is none. */
  private evictUnauthenticated(): boolean {
    const evicted = this.#unauthenticated.evict();
    evicted?.evict();
    return evicted !== null;
  }

  /**
   * Counts a connection for the tenant of its ticket, which is not known at the upgrade. False when the tenant has too
   * many.
   */
  private reserveConnection(tenant: Tenant): boolean {
    // The open connections include this one.
    if (!this.#connectionQuota.allows(tenant, this.connections.size - 1)) return false;
    this.#connectionQuota.add(tenant);
    return true;
  }

  private openConnection(webSocket: WebSocket, { caller, clientAddress, keyDigests }: AdmittedUpgrade): void {
    const listener = listenerOf(caller, keyDigests);
    if (caller !== null && caller.kind !== 'admin') this.#connectionQuota.add(caller.tenant);
    const connection: RealtimeConnection = new RealtimeConnection(webSocket, {
      listener,
      clientAddress,
      nowMs,
      onAuthenticatedOrClosed: () => this.#unauthenticated.remove(connection),
      reserveConnection: (tenant) => this.reserveConnection(tenant),
      subscriptions: this.#subscriptions,
      buffered: this.#buffered,
    });
    // Spreads the pings of clients that reconnected together after a restart.
    connection.nextPingMs = nowMs() + HEARTBEAT_MS * (0.5 + Math.random() / 2);
    this.connections.add(connection);
    if (caller === null) this.#unauthenticated.add(clientAddress, connection)?.evict();
    connection.onClose((code) => {
      this.connections.delete(connection);
      const { listener: last } = connection;
      if (last.kind === 'key' || last.kind === 'ticket') this.#connectionQuota.remove(last.tenant);
      this.o.onClosed(code);
    });
    this.#handleConnection(connection);
    if (this.#closed) connection.dismiss(0);
  }

  private async refuse(
    socket: Duplex,
    { refused, clientAddress, limitHeaders }: RefusedUpgrade,
    id: string,
  ): Promise<void> {
    const { refusal, headers } = refused;
    const { status } = ERRORS[refusal.code];
    const retryAfter = refusal.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
    const answer = rawAnswer(refusal, this.o.publicBaseUrl, {
      'x-request-id': id,
      ...this.o.securityHeaders,
      ...(limitHeaders ?? (await this.o.limits.ofAddress(clientAddress))),
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...headers,
    });
    refuseRaw(socket, answer);
  }
}

const nowMs = (): number => performance.now();

const BUSY = new RefusedRequest({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
const TOO_MANY_OF_ACCOUNT = new RefusedRequest({
  code: 'RATE_LIMITED',
  message: 'This account has too many connections open.',
  retryAfterSeconds: 5,
});

function listenerOf(caller: Caller | null, keyDigests: readonly string[]): Listener {
  if (caller === null) return { kind: 'nobody' };
  if (caller.kind === 'admin') return { kind: 'admin', keyId: caller.keyId, keyDigests };
  const { tenant, keyId, scopes, limits } = caller;
  return { kind: 'key', tenant, keyId, keyDigests, view: scopes.includes('verify') ? 'full' : 'reduced_key', limits };
}
