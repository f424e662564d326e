import { queueConnection } from '@countersign/bus';
import { AuditStore, QUEUE_PREFIX, type DueEvent } from '@countersign/events';
import { modeOf } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { type DynamicModule, Module } from '@nestjs/common';
import { BullModule } from '@nestjs/bullmq';
import { AccountStore } from '@countersign/accounts/accounts';
import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import type { ControlPlaneSettings } from '@countersign/settings';
import { BodyConstraints } from '../http/body.pipe.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';
import { ApprovalStore } from '../guard/approval.store.js';
import type { BroadcastEvent } from '../events/event-broadcast.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores/stores.js';
import { BodySweeper } from './body.sweeper.js';
import { FailingEndpointMonitor } from './failing-endpoint.monitor.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { DeliveryStore } from './delivery.store.js';
import { guardedAgent } from './guarded-agent.js';
import { WakeUpConsumer } from './wake-up.consumer.js';
import { WebhookPoster } from './webhook-poster.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';
import { WebhooksController } from './webhooks.controller.js';

export interface WebhooksOptions {
  readonly settings: ControlPlaneSettings;
  readonly stores: Stores;
  readonly metrics: ControlPlaneMetrics;
  readonly failures: FailureLog;
}

@Module({})
export class WebhooksModule {
  static over(options: WebhooksOptions): DynamicModule {
    const deliveries = deliveryStore(options);
    const defaultUrls = failingEndpointMonitor(options);
    const webhookDispatcher = createWebhookDispatcher(options, deliveries, defaultUrls);
    const connection = queueConnection(options.settings, 'worker');
    return {
      module: WebhooksModule,
      imports: [BullModule.forRoot('worker', { connection, prefix: QUEUE_PREFIX }), BullModule.registerQueue()],
      controllers: [WebhooksController],
      providers: [
        { provide: BodyConstraints, useValue: new BodyConstraints([new IsWebhookTarget(options.stores.targetRules)]) },
        { provide: FailingEndpointMonitor, useValue: defaultUrls },
        { provide: BodySweeper, useValue: bodySweeper(options) },
        {
          provide: WebhookDeliveriesService,
          useValue: webhookDeliveries(options.stores, deliveries, webhookDispatcher),
        },
        { provide: DeliveryStore, useValue: deliveries },
        { provide: WebhookDispatcher, useValue: webhookDispatcher },
        {
          provide: WakeUpConsumer,
          useValue: new WakeUpConsumer(webhookDispatcher, options.failures.about('the queue of webhooks')),
        },
      ],
    };
  }
}

function deliveryStore({ settings, stores, metrics, failures }: WebhooksOptions): DeliveryStore {
  const unreadable = failures.about('reading the body of a webhook');
  return new DeliveryStore({
    ...stores,
    approvals: new ApprovalStore(stores.keys),
    onRevoked: (ids) => stores.cardNotifier.notify(ids),
    onDispatched: (events) => stores.eventBroadcast.publish(events.map(broadcastEventOf)),
    maxBatch: settings.batchMaxCommands,
    onBatch: (size) => metrics.countBatch('delivery', size),
    onUnreadable: (_id, error) => unreadable(error),
  });
}

function webhookDeliveries(
  stores: Stores,
  store: DeliveryStore,
  webhookDispatcher: WebhookDispatcher,
): WebhookDeliveriesService {
  const { clock } = stores;
  const accountStore = new AccountStore({ keys: stores.keys, newId: () => clock.newId() });
  const onRotated = secretsRotated(stores);
  return new WebhookDeliveriesService({
    ...stores,
    accountStore,
    store,
    onRotated,
    wakeFor: (url) => webhookDispatcher.wakeFor(url),
  });
}

const SECRETS_TOPIC = 'webhook-secrets';

/** Tells every control plane that copies of an account's secrets are old: what is signed from now on is signed anew. */
function secretsRotated({ accounts, bus }: Stores): (accountId: Uuid) => void {
  bus.subscribe(SECRETS_TOPIC, (message) => {
    const accountId = message.json();
    if (typeof accountId === 'string') accounts.forgetWebhookSecrets(accountId);
  });
  return (accountId) => {
    accounts.forgetWebhookSecrets(accountId);
    bus.publish(SECRETS_TOPIC, accountId);
  };
}

const broadcastEventOf = ({ id, type, sessionId, accountId, test, occurredAt }: DueEvent): BroadcastEvent => ({
  ...{ id, type, sessionId, accountId, test },
  at: occurredAt.toISOString(),
});

function failingEndpointMonitor({ stores, failures }: WebhooksOptions): FailingEndpointMonitor {
  const newId = (): Uuid => stores.clock.newId();
  return new FailingEndpointMonitor({
    ...stores,
    defaults: new DefaultWebhookStore(),
    accounts: new AccountStore({ keys: stores.keys, newId }),
    audit: new AuditStore(newId),
    onDisabled: (eventId) => stores.notifier.notify([eventId]),
    onError: failures.about('noting which webhooks fail'),
  });
}

const bodySweeper = ({ stores, failures }: WebhooksOptions): BodySweeper =>
  new BodySweeper({ database: stores.database, onError: failures.about('forgetting bodies of webhooks') });

function createWebhookDispatcher(
  { settings, stores, metrics, failures }: WebhooksOptions,
  store: DeliveryStore,
  defaultUrls: FailingEndpointMonitor,
): WebhookDispatcher {
  const dispatcher = guardedAgent(stores.targetRules, settings.webhookEgressProxy);
  const webhookDispatcher = new WebhookDispatcher({
    store,
    poster: new WebhookPoster(stores.targetRules, dispatcher),
    clock: stores.clock,
    secretsOf: (tenant) => stores.accounts.webhookSecrets(tenant),
    onAttempt: (delivery, verdict) => {
      const mode = modeOf(delivery.test);
      metrics.deliveryAttempts.inc({ outcome: verdict.status, mode });
      metrics.deliverySeconds.observe({ mode }, verdict.attempt.latencyMs / 1000);
      defaultUrls.note(delivery, verdict);
    },
    onError: failures.about('the pump of webhooks'),
    hostPerSecond: settings.webhookHostPerSecond,
  });
  stores.notifier.connect((ids) => webhookDispatcher.wake(ids));
  metrics.watch('webhooks_in_flight', 'POSTs under way.', () => webhookDispatcher.inFlight);
  metrics.watch(
    'webhook_hosts_broken',
    'Receivers that are left alone, for they do not answer.',
    () => webhookDispatcher.brokenHosts,
  );
  return webhookDispatcher;
}
