import type { WebSocket } from 'ws';
import { Injectable } from '@nestjs/common';
import type { Scope } from '@countersign/accounts/accounts';
import type { ConsoleSession } from '@countersign/accounts/console-sessions';
import { readsPersonalData } from '../http/console-policy.js';
import { RefusedRequest } from '../http/errors.js';
import type { AdmittedUpgrade } from '../http/request.authorizer.js';
import type { Caller } from '../http/route-access.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { CLOSE } from './close-codes.js';
import type { Listener } from './connection-rules.js';
import { HEARTBEAT_MS, Heartbeats } from './heartbeats.js';
import { RealtimeConnection } from './realtime-connection.js';
import { RealtimeLimits } from './realtime-limits.js';
import type { SessionView } from './session-view.js';

/** Clients reconnect within this time after a shutdown, at random times. */
const RECONNECT_WITHIN_MS = 5_000;
/** Time for clients to answer the close frame. */
const CLOSE_WAIT_MS = 2_000;

/** Codes of RFC 6455, 7.4.1 and ours; the client chooses any other, which must not create a metric series. */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...Object.values(CLOSE),
  ...[1000, 1002, 1003, 1005, 1006, 1007, 1008, 1009],
]);
const codeLabel = (code: number): string => (KNOWN_CODES.has(code) ? String(code) : 'other');

/** The open WebSockets of this process. Each is counted until it closes. */
@Injectable()
export class RealtimeConnections {
  readonly open = new Set<RealtimeConnection>();
  readonly #heartbeats = new Heartbeats(this.open, nowMs);
  #handleConnection: (connection: RealtimeConnection) => void = () => undefined;
  #closed = false;

  constructor(
    private readonly limits: RealtimeLimits,
    private readonly metrics: ControlPlaneMetrics,
  ) {
    metrics.watch('realtime_connections', 'Open WebSockets.', () => this.open.size);
  }

  onConnection(handleConnection: (connection: RealtimeConnection) => void): void {
    this.#handleConnection = handleConnection;
  }

  startHeartbeats(): void {
    this.#heartbeats.start();
  }

  /** Refuses new connections and closes all open ones; resolves when they have closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#heartbeats.stop();
    for (const connection of this.open) connection.dismiss(Math.round(Math.random() * RECONNECT_WITHIN_MS));
    await this.waitUntilEmpty(CLOSE_WAIT_MS);
    for (const connection of this.open) connection.drop();
    await this.waitUntilEmpty(CLOSE_WAIT_MS);
  }

  /** The refusal of one more connection of this caller; null when it is within the limits. */
  refusalOf(caller: Caller | null): RefusedRequest | null {
    if (this.#closed || !this.limits.makeCapacity()) return BUSY;
    if (caller === null || caller.kind === 'admin') return null;
    return this.limits.allows(caller.tenant) ? null : TOO_MANY_OF_ACCOUNT;
  }

  add(webSocket: WebSocket, upgrade: AdmittedUpgrade): void {
    const { clientAddress } = upgrade;
    const listener = listenerOf(upgrade);
    const connection = new RealtimeConnection(webSocket, listener, clientAddress, this.limits, nowMs);
    // Spreads the pings of clients that reconnected together after a restart.
    connection.nextPingMs = nowMs() + HEARTBEAT_MS * (0.5 + Math.random() / 2);
    this.open.add(connection);
    this.limits.add(connection, listener, clientAddress);
    connection.onClose((code) => {
      this.open.delete(connection);
      this.limits.remove(connection.listener);
      this.metrics.countClosedConnection(codeLabel(code));
    });
    this.#handleConnection(connection);
    if (this.#closed) connection.dismiss(0);
  }

  private async waitUntilEmpty(withinMs: number): Promise<void> {
    const untilMs = nowMs() + withinMs;
    while (this.open.size > 0 && nowMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const nowMs = (): number => performance.now();

const BUSY = new RefusedRequest({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
const TOO_MANY_OF_ACCOUNT = new RefusedRequest({
  code: 'RATE_LIMITED',
  message: 'This account has too many connections open.',
  retryAfterSeconds: 5,
});

function listenerOf({ caller, keyDigests, session }: AdmittedUpgrade): Listener {
  if (caller === null) return { kind: 'nobody' };
  const bySession = session === null ? {} : { session: { id: session.id, role: session.role } };
  if (caller.kind === 'admin')
    return { kind: 'admin', keyId: caller.keyId, role: caller.role, keyDigests, ...bySession };
  const { scopes, kind: _mode, ...key } = caller;
  return { ...key, kind: 'key', keyDigests, view: viewOf(scopes, session), ...bySession };
}

/** A key sees what its scopes allow; a member of an account never sees `authEntropy`, and a viewer nobody's data. */
function viewOf(scopes: readonly Scope[], session: ConsoleSession | null): SessionView {
  if (session !== null) return readsPersonalData(session.role) ? 'listed' : 'masked';
  return scopes.includes('verify') ? 'full' : 'reduced_key';
}
