import { AuditStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { type DynamicModule, Module } from '@nestjs/common';
import { AccountStore } from '@countersign/accounts/accounts';
import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import type { ControlPlaneSettings } from '@countersign/settings';
import { BodyConstraints } from '../http/body.pipe.js';
import type { EventRefused } from '../events/event-fault.js';
import type { Mutex } from '../events/mutex.js';
import type { Outbox } from '../events/outbox.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { AttemptObserver } from './attempt.observer.js';
import { BodySweeper } from './body.sweeper.js';
import { FailingEndpointMonitor } from './failing-endpoint.monitor.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { DeliveryStore } from './delivery.store.js';
import { guardedAgent } from './guarded-agent.js';
import { SecretRotationBroadcast } from './secret-rotation.broadcast.js';
import { WebhookPoster } from './webhook-poster.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';
import { WebhooksController } from './webhooks.controller.js';

export interface WebhooksOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
}

/** The parts of the webhooks that work in the background. */
export interface WebhookWorkers {
  readonly store: DeliveryStore;
  readonly outbox: Outbox;
  readonly dispatcher: WebhookDispatcher;
  readonly failingEndpoints: FailingEndpointMonitor;
}

/** Creates the store and starts the dispatcher of deliveries. */
export function startWebhookWorkers(options: WebhooksOptions, outbox: Outbox, mutex: Mutex): WebhookWorkers {
  const store = deliveryStore(options);
  const failingEndpoints = failingEndpointMonitor(options);
  return {
    store,
    outbox,
    failingEndpoints,
    dispatcher: webhookDispatcher(options, { store, failingEndpoints, mutex }),
  };
}

@Module({})
export class WebhooksModule {
  static over(options: WebhooksOptions, workers: WebhookWorkers): DynamicModule {
    const { store, dispatcher, failingEndpoints } = workers;
    const { stores } = options;
    return {
      module: WebhooksModule,
      controllers: [WebhooksController],
      providers: [
        { provide: BodyConstraints, useValue: new BodyConstraints([new IsWebhookTarget(stores.targetRules)]) },
        { provide: FailingEndpointMonitor, useValue: failingEndpoints },
        { provide: BodySweeper, useValue: bodySweeper(options) },
        { provide: WebhookDeliveriesService, useValue: webhookDeliveries(stores, workers) },
        { provide: DeliveryStore, useValue: store },
        { provide: WebhookDispatcher, useValue: dispatcher },
      ],
    };
  }
}

function deliveryStore({ settings, stores, metrics, failures }: WebhooksOptions): DeliveryStore {
  const unreadable = failures.about('webhooks: reading the body of a delivery');
  return new DeliveryStore({
    ...stores,
    maxBatch: settings.batchMaxCommands,
    onBatch: (size) => metrics.countBatch('delivery', size),
    onUnreadable: (_id, error) => unreadable(error),
    onRefused: refusedEvents({ metrics, failures }),
  });
}

/** Logs and counts an event that is not sent. */
export function refusedEvents({
  metrics,
  failures,
}: Pick<WebhooksOptions, 'metrics' | 'failures'>): (refused: EventRefused) => void {
  const log = failures.about('events: an event that no process of this installation writes');
  return (refused) => {
    metrics.eventsRefused.inc({ fault: refused.fault });
    log(refused);
  };
}

function webhookDeliveries(stores: Stores, { store, outbox, dispatcher }: WebhookWorkers): WebhookDeliveriesService {
  const { clock } = stores;
  const secretRotations = new SecretRotationBroadcast(stores.accounts, stores.bus);
  return new WebhookDeliveriesService({
    ...stores,
    accountStore: new AccountStore({ keys: stores.keys, newId: () => clock.newId() }),
    store,
    outbox,
    onRotated: (accountId) => secretRotations.onRotated(accountId),
    wakeFor: (url) => dispatcher.wakeFor(url),
  });
}

function failingEndpointMonitor({ stores, failures }: WebhooksOptions): FailingEndpointMonitor {
  const newId = (): Uuid => stores.clock.newId();
  return new FailingEndpointMonitor({
    ...stores,
    defaults: new DefaultWebhookStore(),
    accounts: new AccountStore({ keys: stores.keys, newId }),
    audit: new AuditStore(newId),
    onDisabled: (eventId) => stores.eventNotifier.notify([eventId]),
    onError: failures.about('failing endpoint monitor: writing failures or disabling a URL'),
  });
}

const bodySweeper = ({ stores, failures }: WebhooksOptions): BodySweeper =>
  new BodySweeper({ database: stores.database, onError: failures.about('webhook body sweeper: deleting bodies') });

interface DispatcherParts {
  readonly store: DeliveryStore;
  readonly failingEndpoints: FailingEndpointMonitor;
  readonly mutex: Mutex;
}

function webhookDispatcher(
  { settings, stores, metrics, failures }: WebhooksOptions,
  { store, failingEndpoints, mutex }: DispatcherParts,
): WebhookDispatcher {
  const agent = guardedAgent(stores.targetRules, settings.webhookEgressProxy);
  const attempts = new AttemptObserver(metrics, failingEndpoints);
  const dispatcher = new WebhookDispatcher({
    store,
    poster: new WebhookPoster(stores.targetRules, agent),
    clock: stores.clock,
    secretsOf: (tenant) => stores.accounts.webhookSecrets(tenant),
    onAttempt: (delivery, verdict) => attempts.onAttempt(delivery, verdict),
    mutex,
    onError: failures.about('webhook dispatcher: claiming, sending or recording deliveries'),
    hostPerSecond: settings.webhookHostPerSecond,
  });
  stores.deliveryNotifier.connect(() => dispatcher.wake());
  metrics.watch('webhooks_in_flight', 'Webhook POSTs in flight.', () => dispatcher.inFlight);
  metrics.watch(
    'webhook_hosts_broken',
    'Webhook hosts whose circuit breaker is open or half open.',
    () => dispatcher.brokenHosts,
  );
  return dispatcher;
}
