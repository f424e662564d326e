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
import { AccountConnectionQuota, SubscriptionPlaces } from './account-connection-quota.js';
import { BufferedOctets } from './buffered-octets.js';
import { RealtimeConnection } from './realtime-connection.js';

/** Clients come back within this time after a shutdown, not all at once. */
const RECONNECT_WITHIN_MS = 5_000;
/** What a goodbye may take. */
const GOODBYE_MS = 2_000;

/**
 * Subscriptions of the keys of one account and mode: as many as the process takes connections, and at least those of two
 * full connections.
 */
const subscriptionsOf = (maxConnections: number): number => Math.max(maxConnections, 2 * MAX_CHANNELS);

/** Limits of connections that have not sent their ticket; one more evicts an older one. */
const UNAUTHENTICATED = { connections: 2_000, connectionsOfNetwork: 100 };

const WEBSOCKETS = {
  noServer: true,
  /** Contract, Realtime: a frame has 16 KiB. */
  maxPayload: 16 * 1024,
  /** A frame that comes octet by octet, or a message of tiny fragments, would be kept as so many objects. */
  maxFragments: 1_024,
  maxBufferedChunks: 1_024,
  perMessageDeflate: false,
  /** A flood of pings without a reader for the pongs ends the connection. */
  maxPendingAutoPongs: 16,
  /** For a peer that does not answer a close, or that reads so slowly that it hears of it late. */
  closeTimeout: 15_000,
  handleProtocols: (): string => SUBPROTOCOL,
} as const;

export interface UpgradeHandlerOptions {
  readonly authorizer: Pick<RequestAuthorizer, 'judgeUpgrade'>;
  readonly limits: Pick<Limits, 'ofAddress'>;
  readonly publicBaseUrl: string;
  /** Of every response. */
  readonly securityHeaders: Readonly<Record<string, string>>;
  /** Of this process, at a time. */
  readonly maxConnections: number;
  readonly newRequestId: () => string;
  readonly log: ErrorLog;
  /** Told of every connection that has ended, with its code. */
  readonly onClosed: (code: number) => void;
}

/**
 * Where WebSockets come in: each upgrade is judged like any request, before it is one. Refusals are answers of the HTTP
 * API; what is let in is a connection, and is counted until it ends.
 */
export class UpgradeHandler {
  readonly connections = new Set<RealtimeConnection>();
  readonly #webSockets = new WebSocketServer(WEBSOCKETS);
  readonly #heartbeats = new Heartbeats(this.connections, nowMs);
  /** What the answers to upgrades that are under way say beside the handshake. */
  readonly #headers = new WeakMap<IncomingMessage, readonly string[]>();
  #hear: (connection: RealtimeConnection) => void = () => undefined;
  readonly #unauthenticated = new UnauthenticatedConnections<RealtimeConnection>(UNAUTHENTICATED);
  readonly #places: AccountConnectionQuota;
  readonly #subscriptions: SubscriptionPlaces;
  readonly #buffered = new BufferedOctets();
  #closed = false;

  constructor(private readonly o: UpgradeHandlerOptions) {
    this.#places = new AccountConnectionQuota(o.maxConnections);
    this.#subscriptions = new SubscriptionPlaces(subscriptionsOf(o.maxConnections));
    this.#webSockets.on('headers', (headers, request) => headers.push(...(this.#headers.get(request) ?? [])));
  }

  onConnection(hear: (connection: RealtimeConnection) => void): void {
    this.#hear = hear;
  }

  /** Takes the upgrades of a server, all of them. */
  attach(server: Pick<Server, 'on'>): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => undefined);
      void this.admit(request, socket, head);
    });
    this.#heartbeats.start();
  }

  /** Lets nobody in any more, and says goodbye to all; settles when they have gone. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#heartbeats.stop();
    for (const connection of this.connections) connection.dismiss(Math.round(Math.random() * RECONNECT_WITHIN_MS));
    await this.emptied(GOODBYE_MS);
    for (const connection of this.connections) connection.drop();
    await this.emptied(GOODBYE_MS);
  }

  private async emptied(withinMs: number): Promise<void> {
    const untilMs = nowMs() + withinMs;
    while (this.connections.size > 0 && nowMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  private async admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const id = this.o.newRequestId();
    const verdict = this.applyLimits(await this.judge(request, id));
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
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => this.welcome(webSocket, verdict));
  }

  private async judge(request: IncomingMessage, id: string): Promise<UpgradeVerdict> {
    try {
      return await this.o.authorizer.judgeUpgrade(request, judgeHandshake(request));
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
    if (this.#closed || !(this.#places.roomBeside(size) || this.evictUnauthenticated())) return BUSY;
    if (caller === null || caller.kind === 'admin') return null;
    return this.#places.roomFor(caller.tenant, size) ? null : TOO_MANY_OF_ACCOUNT;
  }

  /** Frees a connection at the limit of all connections, by closing one that has not authenticated. False when there is none. */
  private evictUnauthenticated(): boolean {
    const evicted = this.#unauthenticated.evict();
    evicted?.evict();
    return evicted !== null;
  }

  /** Counts a connection for the tenant of its ticket, which is not known at the upgrade. False when the tenant has too many. */
  private hasPlaceFor(tenant: Tenant): boolean {
    // The connection itself is among those that are open.
    if (!this.#places.roomFor(tenant, this.connections.size - 1)) return false;
    this.#places.enter(tenant);
    return true;
  }

  private welcome(webSocket: WebSocket, { caller, clientAddress, keyDigests }: AdmittedUpgrade): void {
    const listener = listenerOf(caller, keyDigests);
    if (caller !== null && caller.kind !== 'admin') this.#places.enter(caller.tenant);
    const connection: RealtimeConnection = new RealtimeConnection(webSocket, {
      listener,
      clientAddress,
      nowMs,
      onProven: () => this.#unauthenticated.remove(connection),
      hasPlaceFor: (tenant) => this.hasPlaceFor(tenant),
      subscriptions: this.#subscriptions,
      buffered: this.#buffered,
    });
    // Those that came back together after a restart are not pinged together.
    connection.nextPingMs = nowMs() + HEARTBEAT_MS * (0.5 + Math.random() / 2);
    this.connections.add(connection);
    if (caller === null) this.#unauthenticated.add(clientAddress, connection)?.evict();
    connection.onClose((code) => {
      this.connections.delete(connection);
      const { listener: last } = connection;
      if (last.kind === 'key' || last.kind === 'ticket') this.#places.leave(last.tenant);
      this.o.onClosed(code);
    });
    this.#hear(connection);
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
