import { AccountDirectory, AccountStore } from '@countersign/accounts/accounts';
import { AdminKeyDirectory } from '@countersign/accounts/admin-keys';
import { ConsoleSessionStore } from '@countersign/accounts/console-sessions';
import { MemberStore } from '@countersign/accounts/members';
import { Limiter, openLimiter, openPubSub, PubSub } from '@countersign/bus';
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
import { Lifecycle, provide, provideClass } from '@countersign/composition';
import { EventBroadcast } from '../events/event-broadcast.js';
import { ApprovalStore } from '../guard/approval.store.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { GuardStore } from '../guard/guard.store.js';
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
import { AdminKeyUse, ApiKeyUse } from '../http/key-use.js';
import { SessionObserver } from './session.observer.js';
import { StoreParts } from './store-parts.js';
import { StoreBatchers, StoreConnections } from './store.shutdown.js';

/** The objects that exist before the modules. */
export interface Opened {
  readonly keys: ServerKeys;
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly failures: FailureLog;
  readonly requestIds: RequestIds;
}

const DATABASE_FAILURE = 'database: an idle connection or a background read';

const PROVIDERS = [
  Lifecycle,
  provide(Metrics, [], () => new Metrics({ app: 'control-plane' })),
  provide(Database, [ControlPlaneSettings, FailureLog], ({ databaseUrl: url, databasePoolMax: poolMax }, failures) => {
    const applicationName = 'countersign-control-plane';
    return Database.open({ url, poolMax, applicationName, onError: failures.about(DATABASE_FAILURE) });
  }),
  provide(DatabaseClock, [Database, FailureLog], (database, failures) => {
    return DatabaseClock.start(database, failures.about(DATABASE_FAILURE));
  }),
  provide(Limiter, [ControlPlaneSettings, FailureLog], (settings, failures) => {
    return openLimiter(settings, failures.about('limiter: the shared store'));
  }),
  provide(PubSub, [ControlPlaneSettings, FailureLog], (settings, failures) => {
    return openPubSub(settings, failures.about('bus: a message to other processes'));
  }),
  StoreParts,
  ApiKeyUse,
  AdminKeyUse,
  ControlPlaneMetrics,
  EventStore,
  EventBroadcast,
  EventJobNotifier,
  DeliveryJobNotifier,
  CardJobNotifier,
  ApprovalStore,
  GuardStore,
  CodeChecks,
  SessionObserver,
  StoreBatchers,
  StoreConnections,
  Limits,
  provideClass(AccountDirectory, Database, ServerKeys, ApiKeyUse),
  provideClass(AdminKeyDirectory, Database, ServerKeys, ControlPlaneSettings, AdminKeyUse),
  provideClass(CarrierDirectory, Database),
  provideClass(SessionRenderer, ServerKeys, ControlPlaneSettings),
  provide(SessionStore, [Database, DatabaseClock, ServerKeys, SessionObserver], (database, clock, keys, listener) => {
    return new SessionStore({ database, clock, keys, listener, batch: listener.batch });
  }),
  provide(CardOfferStore, [Database, ControlPlaneSettings], (database, { rcsUnreachableSeconds }) => {
    return new CardOfferStore({ database, unreachableSeconds: rcsUnreachableSeconds });
  }),
  provideClass(ConsoleSessionStore, StoreParts, ControlPlaneSettings),
  provideClass(AccountStore, StoreParts),
  provideClass(DestinationStore, DatabaseClock),
  provideClass(AuditStore, DatabaseClock),
  provideClass(MemberStore, DatabaseClock),
  provide(TargetRules, [ControlPlaneSettings], (settings) => TargetRules.ofSettings(settings)),
  provide(BodyConstraints, [TargetRules], (rules) => new BodyConstraints([new IsWebhookTarget(rules)])),
];

/** The settings, the connections and the stores of the process. All other modules import it. */
@Module({})
export class StoresModule {
  static of(opened: Opened): DynamicModule {
    const values = [
      { provide: ControlPlaneSettings, useValue: opened.settings },
      { provide: FailureLog, useValue: opened.failures },
      { provide: RequestIds, useValue: opened.requestIds },
      { provide: ServerKeys, useValue: opened.keys },
    ];
    const providers = [...values, ...PROVIDERS];
    return { module: StoresModule, imports: [DiscoveryModule], providers, exports: providers };
  }
}
