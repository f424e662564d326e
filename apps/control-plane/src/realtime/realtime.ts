import { PollLoop } from '@countersign/schedule';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { RequestAuthorizer } from '../http/request.authorizer.js';
import { Limits } from '../http/limits.js';
import type { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import type { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { BindStatusFeed } from './bind-status.feed.js';
import { CLOSE } from './close-codes.js';
import { KeyRevocationPoller } from './key-revocation.poller.js';
import { RealtimeAdapter } from './realtime.adapter.js';
import { UpgradeHandler } from './upgrade.handler.js';
import { RealtimeHub } from './realtime.hub.js';
import { TicketStore } from './ticket.store.js';

/** Codes of RFC 6455, 7.4.1 and ours; the client chooses any other, which must not create a metric series. */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ...Object.values(CLOSE),
  1000,
  1002,
  1003,
  1005,
  1006,
  1007,
  1008,
  1009,
]);
const codeLabel = (code: number): string => (KNOWN_CODES.has(code) ? String(code) : 'other');

const PURGE_INTERVAL_MS = 60_000;
/** Tickets in one statement at most; a full purge is followed by the next at once. */
const MAX_PURGED = 1_000;

export interface RealtimeParts {
  readonly app: NestFastifyApplication;
  readonly stores: Stores;
  readonly authorizer: RequestAuthorizer;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
  readonly publicBaseUrl: string;
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly maxConnections: number;
  readonly newRequestId: () => string;
}

/** Lifecycle of the WebSockets of one process. */
export class Realtime {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly upgrades: UpgradeHandler,
    private readonly keyRevocations: KeyRevocationPoller,
    private readonly purge: PollLoop,
  ) {}

  /** Call before the application listens. Resolves once events are received. */
  static async start(parts: RealtimeParts): Promise<Realtime> {
    const { app, stores, metrics, failures } = parts;
    const upgrades = new UpgradeHandler({
      ...parts,
      limits: new Limits(stores.limiter),
      log: failures,
      onClosed: (code) => metrics.realtimeClosed.inc({ code: codeLabel(code) }),
    });
    metrics.watch('realtime_connections', 'Open WebSockets.', () => upgrades.connections.size);
    app.useWebSocketAdapter(new RealtimeAdapter(upgrades));
    const { connections } = upgrades;
    const keyRevocations = new KeyRevocationPoller({
      directory: stores.accounts,
      adminKeys: stores.adminKeys,
      connections,
      onError: failures.about('polling revoked keys'),
    });
    const tickets = app.get(TicketStore);
    const purge = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await tickets.purge(MAX_PURGED)) >= MAX_PURGED,
      onError: failures.about('purging realtime tickets'),
    });
    await app.get(RealtimeHub).start();
    upgrades.attach(app.getHttpServer());
    return new Realtime(app, upgrades, keyRevocations, purge);
  }

  /** Closes all connections. Call before closing the server, which waits for its connections. */
  close(): Promise<void> {
    return this.upgrades.close();
  }

  /** Call after all connections have closed. */
  async stop(): Promise<void> {
    await Promise.all([
      this.keyRevocations.stop(),
      this.purge.stop(),
      this.app.get(RealtimeHub).stop(),
      this.app.get(BindStatusFeed).stop(),
    ]);
    await this.app.get(TicketStore).drain();
  }
}
