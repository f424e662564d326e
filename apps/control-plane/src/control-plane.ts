import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { queueConnection } from '@countersign/bus';
import { QUEUE_PREFIX, QUEUES } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { PartitionMaintainer } from '@countersign/postgres/partitions';
import { warnOfRoleFaults } from '@countersign/postgres/schema';
import type { ExpiredCounts } from '@countersign/session';
import type { ControlPlaneSettings } from '@countersign/settings';
import {
  createRequestIds,
  type Logger,
  Metrics,
  NestPinoLogger,
  OpsServer,
  Shutdown,
  withinDeadline,
} from '@countersign/telemetry';
import { NestFactory } from '@nestjs/core';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { Queue } from 'bullmq';
import { AppModule } from './app.module.js';
import { RcsOfferService } from './cards/rcs-offer.service.js';
import { describeApi } from './docs/openapi/api-document.js';
import { ApiDescription } from './docs/openapi/openapi.controller.js';
import { EventsConsumer } from './events/events.consumer.js';
import { OutboxDispatcher } from './events/outbox.dispatcher.js';
import { ExpirySweeper } from './expiry/expiry.sweeper.js';
import { RequestAuthorizer } from './http/request.authorizer.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { ErrorAnswers } from './http/error-answers.js';
import { Limits } from './http/limits.js';
import { RequestDeadline } from './http/request-deadline.js';
import { securityHeaders } from './http/security-headers.js';
import { createServer } from './http/server.js';
import { IdempotencyKeySweeper } from './idempotency/idempotency-key.sweeper.js';
import { IdempotencyStore } from './idempotency/idempotency.store.js';
import { KeyRotationWorker } from './key-rotation/key-rotation.worker.js';
import { ControlPlaneMetrics } from './operations/control-plane.metrics.js';
import { FailureLog } from './operations/failure-log.js';
import { readinessChecks } from './operations/readiness.js';
import { SendCodeService } from './otp/send-code.service.js';
import { Realtime } from './realtime/realtime.js';
import { KEY_DEPENDANTS } from './key-rotation/key-dependants.js';
import { openStores, type Stores } from './stores/stores.js';
import { TestPhones } from './test-numbers/test-phones.js';
import { UsageAggregator } from './usage/usage.aggregator.js';
import { BodySweeper } from './webhooks/body.sweeper.js';
import { FailingEndpointMonitor } from './webhooks/failing-endpoint.monitor.js';
import { DeliveryStore } from './webhooks/delivery.store.js';
import { WebhookDispatcher } from './webhooks/webhook.dispatcher.js';

/** Time for the responses of requests that have been read. */
const REQUESTS_MS = 5_000;
/** Connections with an incomplete request or handshake are closed after this time. */
const HALF_REQUESTS_MS = 4_000;
/** POSTs under way have 5 s of this; the rest is for the other steps. */
const WORKERS_MS = 7_000;
const STEP_MS = 3_000;
/** BullMQ waits without end for an unreachable Redis; the queue holds nothing that would be lost. */
const QUEUE_CLOSE_MS = 1_000;

/** The parts of a running control plane that its stop needs. */
interface Parts {
  readonly app: NestFastifyApplication;
  readonly stores: Stores;
  readonly deadline: RequestDeadline;
  readonly sweeper: ExpirySweeper;
  readonly partitions: PartitionMaintainer;
  readonly keyRotation: KeyRotationWorker;
  readonly queue: Queue;
  readonly ops: OpsServer;
  readonly failures: FailureLog;
  readonly realtime: Realtime;
}

/**
 * Starts a control plane: tables, stores and partitions, then the workers, then the ports. The returned shutdown does not listen
 * for signals yet; it ends the process by default, or calls `exit`. Rejects when a port is in use or a store cannot be reached.
 */
export async function startControlPlane(
  settings: Readonly<ControlPlaneSettings>,
  logger: Logger,
  exit?: (code: number) => void,
): Promise<Shutdown> {
  const failures = new FailureLog(logger);
  const registry = new Metrics({ app: 'control-plane' });
  const metrics = new ControlPlaneMetrics(registry);
  const stores = await openStores(settings, KEY_DEPENDANTS, {
    onError: failures.about('database: an idle connection or a background read'),
    onLimiterAway: failures.about('limiter: the shared store'),
    onBusError: failures.about('bus: a message to other processes'),
    onBatch: (name, size) => metrics.countBatch(name, size),
    onChecks: (checks) => metrics.countChecks(checks),
    onKeyLog: (facts, message) => logger.info(facts, message),
  });
  if (settings.production) await warnOfRoleFaults(stores.database, 'daemon', (message) => logger.warn(message));
  const deadline = new RequestDeadline();
  const limits = new Limits(stores.limiter);
  const answers = new ErrorAnswers(settings.publicBaseUrl, failures, limits);
  const methods = new AllowedMethods();
  const authorizer = authorizerOf(settings, stores, methods, limits);
  const newRequestId = createRequestIds();
  const headers = securityHeaders(settings.tls, settings.publicBaseUrl);
  const adapter = serverOf({
    settings,
    securityHeaders: headers,
    authorizer,
    methods,
    newRequestId,
    deadline,
    answers,
    limits,
    metrics,
    failures,
  });
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.over({ settings, stores, metrics, failures }),
    adapter,
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
    { bodyParser: false, logger: new NestPinoLogger(logger), abortOnError: false },
  );
  app.useGlobalFilters(answers);
  app.get(ApiDescription).publish(describeApi(app, settings.publicBaseUrl));
  const { publicBaseUrl, realtimeConnections: maxConnections } = settings;
  const upgrades = { authorizer, publicBaseUrl, securityHeaders: headers, maxConnections, newRequestId };
  const realtime = await Realtime.start({ app, stores, metrics, failures, ...upgrades });
  const queue = queueOf(settings, failures);
  const ops = opsServerOf({ settings, stores, registry, metrics, deadline, queue });
  deadline.start();
  await app.listen(settings.port, settings.host);
  await ops.listen();
  const sweeper = sweeperOf(stores, metrics, failures);
  const partitions = partitionsOf(settings, stores, failures);
  const keyRotation = keyRotationOf(stores, metrics, failures);
  const parts = { app, stores, deadline, sweeper, partitions, keyRotation, queue, ops, failures, realtime };
  return stopsOf(parts, new Shutdown(exit === undefined ? { logger } : { logger, exit }));
}

function authorizerOf(
  { tls, adminAllowedCidrs }: Readonly<ControlPlaneSettings>,
  { accounts: directory, adminKeys, keys, keyUse, adminKeyUse }: Stores,
  methods: AllowedMethods,
  limits: Limits,
): RequestAuthorizer {
  const onKeyUsed = (keyId: Uuid): void => keyUse.recordUse(keyId);
  const onAdminKeyUsed = (keyId: Uuid): void => adminKeyUse.recordUse(keyId);
  const listeners = { onKeyUsed, onAdminKeyUsed };
  return new RequestAuthorizer({ directory, adminKeys, adminAllowedCidrs, keys, tls, methods, limits, ...listeners });
}

function sweeperOf({ sessions }: Stores, metrics: ControlPlaneMetrics, failures: FailureLog): ExpirySweeper {
  const onSwept = (counts: ExpiredCounts): void => metrics.countExpired(counts);
  return new ExpirySweeper({ sessions, onSwept, onError: failures.about('expiry sweeper: expiring sessions') });
}

function partitionsOf(
  { retentionDays }: Readonly<ControlPlaneSettings>,
  stores: Stores,
  failures: FailureLog,
): PartitionMaintainer {
  const onError = failures.about('partition maintainer: creating or detaching partitions');
  return new PartitionMaintainer({ ...stores, retentionDays, onError });
}

function keyRotationOf(stores: Stores, metrics: ControlPlaneMetrics, failures: FailureLog): KeyRotationWorker {
  return new KeyRotationWorker({
    ...stores,
    owner: stores.clock.newId(),
    onRenewed: (count) => metrics.sealedValuesRenewed.inc(count),
    onError: failures.about('key rotation worker: resealing values'),
  });
}

interface ServerParts {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly securityHeaders: Readonly<Record<string, string>>;
  readonly authorizer: RequestAuthorizer;
  readonly methods: AllowedMethods;
  readonly newRequestId: () => string;
  readonly deadline: RequestDeadline;
  readonly answers: ErrorAnswers;
  readonly limits: Limits;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
}

function serverOf({ settings: { tls, publicBaseUrl }, metrics, failures, ...parts }: ServerParts): FastifyAdapter {
  return createServer({
    ...parts,
    tls,
    publicBaseUrl,
    onAnswer: (answer) => {
      metrics.countAnswer(answer);
      failures.logSlowRequest(answer);
    },
  });
}

/** Used by the readiness check only: this process notifies its own outbox dispatcher directly. */
function queueOf(settings: Readonly<ControlPlaneSettings>, failures: FailureLog): Queue {
  const connection = queueConnection(settings, 'producer');
  const queue = new Queue(QUEUES.webhooks, { connection, prefix: QUEUE_PREFIX });
  queue.on('error', failures.about('event queue: the connection of the readiness check'));
  return queue;
}

interface OpsParts {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly stores: Stores;
  readonly registry: Metrics;
  readonly metrics: ControlPlaneMetrics;
  readonly deadline: RequestDeadline;
  readonly queue: Queue;
}

function opsServerOf({ settings, stores, registry, metrics, deadline, queue }: OpsParts): OpsServer {
  const { database, clock, events, limiter } = stores;
  metrics.watch('requests_open', 'Requests without a response yet.', () => deadline.size);
  metrics.watch('database_connections', 'Database connections of this process.', () => database.poolUse.total);
  metrics.watch(
    'limiter_away',
    '1 while this process counts quotas alone, because the shared limiter is unreachable.',
    () => Number(limiter.away),
  );
  metrics.watch('clock_drift_seconds', 'Wall clock minus database clock.', () => clock.driftMs / 1000);
  metrics.watch('events_oldest_undispatched_seconds', 'Age of the oldest undispatched event.', () =>
    events.oldestUndispatchedSeconds(database),
  );
  const checks = readinessChecks({ database, clock, pingQueue: () => queue.getJobCounts('waiting') });
  return new OpsServer({ host: settings.opsHost, port: settings.opsPort, metrics: registry, checks });
}

async function closeServer(app: NestFastifyApplication): Promise<void> {
  const timeout = sleep(HALF_REQUESTS_MS, undefined, { ref: false });
  await Promise.race([app.getHttpAdapter().getInstance().close(), timeout]);
  app.getHttpServer().closeAllConnections();
}

/** Stops in this order: requests and POSTs under way still need their stores. */
function stopsOf(parts: Parts, shutdown: Shutdown): Shutdown {
  const { app, stores, deadline, sweeper, partitions, keyRotation, queue, ops, failures, realtime } = parts;
  const closing = (close: () => Promise<void>): Promise<void> =>
    withinDeadline(QUEUE_CLOSE_MS, close).catch(failures.about('shutdown: closing the event queue'));
  return shutdown
    .step('stop listening, finish requests', REQUESTS_MS, async () => {
      ops.drain();
      app.get(RcsOfferService).stop();
      // The server waits for its connections, WebSockets included.
      await Promise.all([realtime.close(), closeServer(app)]);
      deadline.stop();
    })
    .step('stop the workers', WORKERS_MS, async () => {
      const { worker } = app.get(EventsConsumer);
      await Promise.all([closing(() => worker.close()), sweeper.stop(), partitions.stop(), app.get(TestPhones).stop()]);
      await Promise.all([app.get(IdempotencyKeySweeper).stop(), app.get(UsageAggregator).stop(), keyRotation.stop()]);
      // The last dispatch may still claim deliveries.
      await app.get(OutboxDispatcher).stop();
      await app.get(WebhookDispatcher).stop();
      await Promise.all([app.get(FailingEndpointMonitor).stop(), app.get(BodySweeper).stop()]);
      await realtime.stop();
    })
    .step('drain the batchers', STEP_MS, async () => {
      await Promise.all([
        stores.keyUse.stop(),
        stores.adminKeyUse.stop(),
        stores.sessions.drain().then(() => stores.codeChecks.drain()),
        stores.cards.drain(),
        app.get(DeliveryStore).drain(),
        app.get(IdempotencyStore).drain(),
        app.get(SendCodeService).drain(),
      ]);
    })
    .step('close the queue', STEP_MS, async () => {
      await closing(() => queue.close());
      await closing(() => app.close());
    })
    .step('close the database', STEP_MS, async () => {
      await Promise.all([stores.clock.stop(), stores.limiter.close(), stores.bus.close()]);
      await stores.database.close();
    })
    .step('close operations', STEP_MS, () => ops.close());
}
