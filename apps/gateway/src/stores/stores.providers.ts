import { getQueueToken } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import { JobNotifier, openPubSub, PubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { EventStore, QUEUES } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { SessionStore } from '@countersign/session';
import { GatewaySettings } from '@countersign/settings';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { provide, provideClass } from '@countersign/composition';
import { BusConnection } from './bus.connection.js';
import { ConnectionErrors } from './connection-errors.js';
import { DatabaseConnection } from './database.connection.js';

/** Connections, and the stores that several folders use. */
export const storeProviders = [
  ConnectionErrors,
  provide(ServerKeys, [GatewaySettings], (settings) => ServerKeys.fromRing(settings.masterKeys)),
  provide(Database, [GatewaySettings, ConnectionErrors], ({ databaseUrl: url, databasePoolMax: poolMax }, errors) => {
    const applicationName = 'countersign-gateway';
    return Database.open({ url, poolMax, applicationName, onError: errors.onIdleConnectionLost });
  }),
  provide(DatabaseClock, [Database, ConnectionErrors], (database, errors) => {
    return DatabaseClock.start(database, errors.onClockError);
  }),
  { provide: GATEWAY_ID, inject: [DatabaseClock], useFactory: (clock: DatabaseClock) => clock.newId() },
  provide(PubSub, [GatewaySettings, ConnectionErrors], (settings, errors) => openPubSub(settings, errors.onBusError)),
  {
    provide: JobNotifier,
    inject: [getQueueToken(QUEUES.webhooks), ConnectionErrors],
    useFactory: (queue: Queue, errors: ConnectionErrors) =>
      new JobNotifier(queue.on('error', errors.onQueueError), errors.onLostNotification),
  },
  DatabaseConnection,
  BusConnection,
  provideClass(CarrierDirectory, Database),
  EventStore,
  provide(SessionStore, [Database, DatabaseClock, ServerKeys, JobNotifier], (database, clock, keys, notifier) => {
    return new SessionStore({ database, clock, keys, listener: { onEvents: (ids) => notifier.notify(ids) } });
  }),
];
