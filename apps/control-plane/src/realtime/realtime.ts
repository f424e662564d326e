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

/** Codes of RFC 6455, 7.4.1 and ours; any other is the client's choice, which must not become a series of its own. */
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
/** Tickets in one statement at most; while a purge is full the next one follows at once. */
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

/** The live channel of one process, from its first connection to its last. */
export class Realtime {
  private constructor(
    private readonly app: NestFastifyApplication,
    private readonly upgrades: UpgradeHandler,
    private readonly keyWatch: KeyRevocationPoller,
    private readonly purge: PollLoop,
  ) {}

  /** Before the application listens. Settles once events will be heard. */
  static async start(parts: RealtimeParts): Promise<Realtime> {
    const { app, stores, metrics, failures } = parts;
    const upgrades = new UpgradeHandler({
      ...parts,
      limits: new Limits(stores.limiter),
      log: failures,
      onClosed: (code) => metrics.realtimeClosed.inc({ code: codeLabel(code) }),
    });
    metrics.watch('realtime_connections', 'WebSockets that are open.', () => upgrades.connections.size);
    app.useWebSocketAdapter(new RealtimeAdapter(upgrades));
    const { connections } = upgrades;
    const keyWatch = new KeyRevocationPoller({
      directory: stores.accounts,
      adminKeys: stores.adminKeys,
      connections,
      onError: failures.about('asking for revoked keys'),
    });
    const tickets = app.get(TicketStore);
    const purge = new PollLoop({
      everyMs: PURGE_INTERVAL_MS,
      work: async () => (await tickets.purge(MAX_PURGED)) >= MAX_PURGED,
      onError: failures.about('forgetting tickets'),
    });
    await app.get(RealtimeHub).start();
    upgrades.attach(app.getHttpServer());
    return new Realtime(app, upgrades, keyWatch, purge);
  }

  /** Sends everybody away: before the server closes, which waits for its connections. */
  close(): Promise<void> {
    return this.upgrades.close();
  }

  /** When nobody listens any more. */
  async stop(): Promise<void> {
    await Promise.all([
      this.keyWatch.stop(),
      this.purge.stop(),
      this.app.get(RealtimeHub).stop(),
      this.app.get(BindStatusFeed).stop(),
    ]);
    await this.app.get(TicketStore).drain();
  }
}
