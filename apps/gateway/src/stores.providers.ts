import { getQueueToken } from '@nestjs/bullmq';
import type { FactoryProvider } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { JobNotifier, openPubSub, PubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { SystemConnectionStore } from '@countersign/carriers/leases';
import { MtMessageStore } from '@countersign/carriers/outbound';
import { RouteDirectory } from '@countersign/carriers/routes';
import { EventStore, QUEUES } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Database, DatabaseClock } from '@countersign/postgres';
import { BareSessionRenderer, SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from './metrics/gateway.metrics.js';
import { GATEWAY_ID } from './injection/gateway-id.token.js';
import { LOGGER } from './injection/logger.token.js';

/** Stores and connections, built from the settings. */
export const storeProviders: FactoryProvider[] = [
  {
    provide: ServerKeys,
    inject: [GatewaySettings],
    useFactory: (settings: GatewaySettings) => ServerKeys.fromRing(settings.masterKeys),
  },
  {
    provide: Database,
    inject: [GatewaySettings, LOGGER],
    useFactory: (settings: GatewaySettings, logger: Logger) =>
      Database.open({
        url: settings.databaseUrl,
        poolMax: settings.databasePoolMax,
        applicationName: 'countersign-gateway',
        onError: (error) => logger.warn({ err: error }, 'database: idle connection lost'),
      }),
  },
  {
    provide: DatabaseClock,
    inject: [Database, LOGGER],
    useFactory: (database: Database, logger: Logger) =>
      DatabaseClock.start(database, (error) => logger.warn({ err: error }, 'database clock could not be read')),
  },
  {
    provide: CarrierDirectory,
    inject: [Database],
    useFactory: (database: Database) => new CarrierDirectory(database),
  },
  { provide: GATEWAY_ID, inject: [DatabaseClock], useFactory: (clock: DatabaseClock) => clock.newId() },
  {
    provide: SystemConnectionStore,
    inject: [GATEWAY_ID],
    useFactory: (gatewayId: Uuid) => new SystemConnectionStore(gatewayId),
  },
  {
    provide: RouteDirectory,
    inject: [Database],
    useFactory: (database: Database) => new RouteDirectory(database),
  },
  {
    provide: MtMessageStore,
    inject: [DatabaseClock],
    useFactory: (clock: DatabaseClock) => new MtMessageStore({ events: new EventStore(), newId: () => clock.newId() }),
  },
  {
    provide: JobNotifier,
    inject: [getQueueToken(QUEUES.webhooks), GatewayMetrics, LOGGER],
    useFactory: (queue: Queue, metrics: GatewayMetrics, logger: Logger) => {
      const onError = (error: unknown): void => {
        metrics.lostWakeups.inc();
        logger.warn({ err: error }, 'job notifier: notification lost; the poll will find the due rows');
      };
      // While Redis is unreachable the queue emits many errors a second; the job notifier reports lost notifications.
      queue.on('error', (error) => logger.debug({ err: error }, 'queue connection error'));
      return new JobNotifier(queue, onError);
    },
  },
  {
    provide: PubSub,
    inject: [GatewaySettings, LOGGER],
    useFactory: (settings: GatewaySettings, logger: Logger) =>
      openPubSub(settings, (error) => logger.warn({ err: error }, 'bus unreachable, or a message was lost')),
  },
  {
    provide: SessionStore,
    inject: [Database, DatabaseClock, ServerKeys, JobNotifier],
    useFactory: (database: Database, clock: DatabaseClock, keys: ServerKeys, notifier: JobNotifier) => {
      // Event rows hold no `authEntropy`: a gateway needs no entropy key.
      const renderer = new BareSessionRenderer();
      const onEvents = (ids: readonly string[]): void => notifier.notify(ids);
      return new SessionStore({ database, clock, keys, events: new EventStore(), renderer, onEvents });
    },
  },
];
