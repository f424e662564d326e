import { bellConnection } from '@countersign/bus';
import { AuditStore, QUEUE_PREFIX, type DueEvent } from '@countersign/events';
import { modeOf } from '@countersign/keys';
import type { Uuid } from '@countersign/postgres';
import { type DynamicModule, Module } from '@nestjs/common';
import { BullModule } from '@nestjs/bullmq';
import { AccountStore, DefaultWebhookStore } from '@countersign/accounts';
import type { ControlPlaneSettings } from '@countersign/settings';
import { BodyConstraints } from '../http/body.pipe.js';
import { IsWebhookTarget } from '../verify/webhook-target.constraint.js';
import { ApprovalStore } from '../otp/approval.store.js';
import type { ToldEvent } from '../events-told.js';
import { ControlPlaneMetrics } from '../operations/control-plane.metrics.js';
import { FailureLog } from '../operations/failure-log.js';
import type { Stores } from '../stores.js';
import { BodySweeper } from './body.sweeper.js';
import { DefaultUrlKeeper } from './default-url.keeper.js';
import { DeliveryDesk } from './delivery.desk.js';
import { DeliveryStore } from './delivery.store.js';
import { guardedAgent } from './guarded-agent.js';
import { WakeUpConsumer } from './wake-up.consumer.js';
import { WebhookPoster } from './webhook-poster.js';
import { WebhookPump } from './webhook-pump.js';
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
    const defaultUrls = defaultUrlKeeper(options);
    const pump = webhookPump(options, deliveries, defaultUrls);
    const connection = bellConnection(options.settings, 'worker');
    return {
      module: WebhooksModule,
      imports: [BullModule.forRoot('worker', { connection, prefix: QUEUE_PREFIX }), BullModule.registerQueue()],
      controllers: [WebhooksController],
      providers: [
        { provide: BodyConstraints, useValue: new BodyConstraints([new IsWebhookTarget(options.stores.targetRules)]) },
        { provide: DefaultUrlKeeper, useValue: defaultUrls },
        { provide: BodySweeper, useValue: bodySweeper(options) },
        { provide: DeliveryDesk, useValue: deliveryDesk(options.stores, deliveries, pump) },
        { provide: DeliveryStore, useValue: deliveries },
        { provide: WebhookPump, useValue: pump },
        {
          provide: WakeUpConsumer,
          useValue: new WakeUpConsumer(pump, options.failures.about('the queue of webhooks')),
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
    onRevoked: (ids) => stores.cardBell.ring(ids),
    onTaken: (events) => stores.told.publish(events.map(toldOf)),
    maxBatch: settings.batchMaxCommands,
    onBatch: (size) => metrics.countBatch('delivery', size),
    onUnreadable: (_id, error) => unreadable(error),
  });
}

function deliveryDesk(stores: Stores, store: DeliveryStore, pump: WebhookPump): DeliveryDesk {
  const { clock } = stores;
  const accountStore = new AccountStore({ keys: stores.keys, newId: () => clock.newId() });
  const onRotated = secretsRotated(stores);
  return new DeliveryDesk({ ...stores, accountStore, store, onRotated, wakeFor: (url) => pump.wakeFor(url) });
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

const toldOf = ({ id, type, sessionId, accountId, test, occurredAt }: DueEvent): ToldEvent => ({
  ...{ id, type, sessionId, accountId, test },
  at: occurredAt.toISOString(),
});

function defaultUrlKeeper({ stores, failures }: WebhooksOptions): DefaultUrlKeeper {
  const newId = (): Uuid => stores.clock.newId();
  return new DefaultUrlKeeper({
    ...stores,
    defaults: new DefaultWebhookStore(),
    accounts: new AccountStore({ keys: stores.keys, newId }),
    audit: new AuditStore(newId),
    onDisabled: (eventId) => stores.bell.ring([eventId]),
    onError: failures.about('noting which webhooks fail'),
  });
}

const bodySweeper = ({ stores, failures }: WebhooksOptions): BodySweeper =>
  new BodySweeper({ database: stores.database, onError: failures.about('forgetting bodies of webhooks') });

function webhookPump(
  { settings, stores, metrics, failures }: WebhooksOptions,
  store: DeliveryStore,
  defaultUrls: DefaultUrlKeeper,
): WebhookPump {
  const dispatcher = guardedAgent(stores.targetRules, settings.webhookEgressProxy);
  const pump = new WebhookPump({
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
  stores.bell.connect((ids) => pump.wake(ids));
  metrics.watch('webhooks_in_flight', 'POSTs under way.', () => pump.inFlight);
  metrics.watch(
    'webhook_hosts_broken',
    'Receivers that are left alone, for they do not answer.',
    () => pump.brokenHosts,
  );
  return pump;
}
