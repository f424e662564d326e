import { AccountDirectory, AccountStore } from '@countersign/accounts/accounts';
import { AdminKeyDirectory } from '@countersign/accounts/admin-keys';
import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { KeyUse } from '@countersign/accounts/keys';
import { Limiter, openPubSub, PubSub } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { DestinationStore } from '@countersign/carriers/destinations';
import { AuditStore, EventStore } from '@countersign/events';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { CardOfferStore } from '@countersign/rcs/offers';
import { SessionRenderer, SessionStore } from '@countersign/session';
import { ControlPlaneSettings } from '@countersign/settings';
import { Metrics } from '@countersign/telemetry';
import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Lifecycle } from '@countersign/composition';
import { provide } from '@countersign/composition';
import { provideStore } from '../composition/provide-store.js';
import { EventBroadcast } from '../events/event-broadcast.js';
import { ApprovalStore } from '../guard/approval.store.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { BodyConstraints } from '../http/body.pipe.js';
import { Limits } from '../http/limits.js';
import { RequestIds } from '../http/request-ids.js';
import { CardJobNotifier } from '../notifiers/card-job.notifier.js';
import { DeliveryJobNotifier } from '../notifiers/delivery-job.notifier.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import { TargetRules } from '../targets/target.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';
import { AdminKeyUse } from '../http/admin-key-use.js';
import type { Connections } from './connections.js';
import { SessionObserver } from './session.observer.js';
import { StoreBatchers, StoreConnections } from './store.shutdown.js';

/** The objects that exist before the modules. */
export interface Opened extends Connections {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly metrics: Metrics;
  readonly failures: FailureLog;
  readonly requestIds: RequestIds;
}

const CLASSES = [
  Lifecycle,
  ControlPlaneMetrics,
  EventStore,
  EventBroadcast,
  EventJobNotifier,
  DeliveryJobNotifier,
  CardJobNotifier,
  ApprovalStore,
  CodeChecks,
  SessionObserver,
  StoreBatchers,
  StoreConnections,
  Limits,
];

/** Objects of libraries. */
const STORES = [
  provide(PubSub, [ControlPlaneSettings, FailureLog], (settings, failures) =>
    openPubSub(settings, failures.about('bus: a message to other processes')),
  ),
  provide(
    KeyUse,
    [Database, FailureLog],
    (database, failures) => new KeyUse({ database, onError: failures.about('recording uses of API keys') }),
  ),
  provide(
    AdminKeyUse,
    [Database, FailureLog],
    (database, failures) =>
      new AdminKeyUse({ database, onError: failures.about('recording uses of admin keys'), table: 'admin_keys' }),
  ),
  provide(
    AccountDirectory,
    [Database, ServerKeys, KeyUse],
    (database, keys, use) => new AccountDirectory(database, keys, (outdated) => use.requestRenewal(outdated)),
  ),
  provide(
    AdminKeyDirectory,
    [Database, ServerKeys, AdminKeyUse, ControlPlaneSettings],
    (database, keys, use, { adminKey: rootKey }) =>
      new AdminKeyDirectory({ database, keys, rootKey, onOutdatedDigest: (outdated) => use.requestRenewal(outdated) }),
  ),
  provide(CarrierDirectory, [Database], (database) => new CarrierDirectory(database)),
  provide(
    SessionRenderer,
    [ServerKeys, ControlPlaneSettings],
    (keys, { entropyKeys }) => new SessionRenderer(keys, entropyKeys),
  ),
  provide(
    SessionStore,
    [Database, DatabaseClock, ServerKeys, SessionObserver],
    (database, clock, keys, observer) =>
      new SessionStore({ database, clock, keys, listener: observer, batch: observer.batch }),
  ),
  provide(
    CardOfferStore,
    [Database, ControlPlaneSettings],
    (database, { rcsUnreachableSeconds: unreachableSeconds }) => new CardOfferStore({ database, unreachableSeconds }),
  ),
  provide(
    ConsoleSessionStore,
    [DatabaseClock, ServerKeys, ControlPlaneSettings],
    (clock, keys, { adminKey: rootKey }) => new ConsoleSessionStore({ keys, rootKey, newId: () => clock.newId() }),
  ),
  provideStore(AccountStore, (parts) => new AccountStore(parts)),
  provideStore(DestinationStore, ({ newId }) => new DestinationStore(newId)),
  provideStore(AuditStore, ({ newId }) => new AuditStore(newId)),
  provide(
    TargetRules,
    [ControlPlaneSettings],
    ({ webhookAllowedCidrs: allowedCidrs, webhookAllowHttp: allowHttp }) =>
      new TargetRules({ allowedCidrs, allowHttp }),
  ),
  provide(BodyConstraints, [TargetRules], (rules) => new BodyConstraints([new IsWebhookTarget(rules)])),
];

/** The settings, the connections and the stores of the process. All other modules import it. */
@Module({})
export class StoresModule {
  static of(opened: Opened): DynamicModule {
    const values = [
      { provide: ControlPlaneSettings, useValue: opened.settings },
      { provide: Metrics, useValue: opened.metrics },
      { provide: FailureLog, useValue: opened.failures },
      { provide: RequestIds, useValue: opened.requestIds },
      { provide: ServerKeys, useValue: opened.keys },
      { provide: Database, useValue: opened.database },
      { provide: DatabaseClock, useValue: opened.clock },
      { provide: Limiter, useValue: opened.limiter },
    ];
    const providers = [...values, ...CLASSES, ...STORES];
    return { module: StoresModule, imports: [DiscoveryModule], providers, exports: providers };
  }
}
