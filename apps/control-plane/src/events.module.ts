import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import { provide } from '@countersign/composition';
import { ControlPlaneSettings } from '@countersign/settings';
import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { CardRevocationSubscriber } from './cards/card-revocation.subscriber.js';
import { BroadcastSubscriber } from './events/broadcast.subscriber.js';
import { EventRefusals } from './events/event-refusals.js';
import { EVENT_SUBSCRIBERS, type EventSubscriber } from './events/event.subscriber.js';
import { EventsConsumer } from './events/events.consumer.js';
import { Mutex } from './events/mutex.js';
import { OutboxDispatcher } from './events/outbox.dispatcher.js';
import { Outbox } from './events/outbox.js';
import { ApprovalSubscriber } from './guard/approval.subscriber.js';
import { DeveloperRights } from './http/developer-rights.js';
import { TargetRules } from './targets/target.js';
import { AttemptObserver } from './webhooks/attempt.observer.js';
import { AttemptRecorder } from './webhooks/attempt.recorder.js';
import { BodyRenderer } from './webhooks/body-renderer.js';
import { BodySweeper } from './webhooks/body.sweeper.js';
import { DeliveryBodies } from './webhooks/delivery-bodies.js';
import { DeliveryRetries } from './webhooks/delivery-retries.js';
import { DeliveryStore } from './webhooks/delivery.store.js';
import { DeliverySubscriber } from './webhooks/delivery.subscriber.js';
import { DisabledUrlStore } from './webhooks/disabled-url.store.js';
import { DispatcherObserver } from './webhooks/dispatcher.observer.js';
import { EventAgreement } from './webhooks/event-agreement.js';
import { FailingEndpointMonitor } from './webhooks/failing-endpoint.monitor.js';
import { FailingUrlService } from './webhooks/failing-url.service.js';
import { FormerUrlSweeper } from './webhooks/former-url.sweeper.js';
import { SecretRotationBroadcast } from './webhooks/secret-rotation.broadcast.js';
import { SecretRotationService } from './webhooks/secret-rotation.service.js';
import { TestWebhookService } from './webhooks/test-webhook.service.js';
import { WebhookAttempts } from './webhooks/webhook-attempts.js';
import { WebhookDeliveriesService } from './webhooks/webhook-deliveries.service.js';
import { WebhookDispatcher } from './webhooks/webhook.dispatcher.js';
import { WebhookPoster } from './webhooks/webhook-poster.js';
import { WebhooksController } from './webhooks/webhooks.controller.js';

/** The dispatch of events, the deliveries made from them, and the requests about webhooks. */
@Module({
  imports: [BullModule.registerQueue()],
  controllers: [WebhooksController],
  providers: [
    CardRevocationSubscriber,
    ApprovalSubscriber,
    BroadcastSubscriber,
    DeliverySubscriber,
    {
      provide: EVENT_SUBSCRIBERS,
      inject: [CardRevocationSubscriber, ApprovalSubscriber, BroadcastSubscriber, DeliverySubscriber],
      useFactory: (...inOrder: EventSubscriber[]) => inOrder,
    },
    Mutex,
    EventRefusals,
    Outbox,
    OutboxDispatcher,
    EventsConsumer,
    EventAgreement,
    BodyRenderer,
    DeliveryBodies,
    DeliveryStore,
    DefaultWebhookStore,
    DisabledUrlStore,
    FailingUrlService,
    FailingEndpointMonitor,
    AttemptObserver,
    AttemptRecorder,
    provide(WebhookPoster, [TargetRules, ControlPlaneSettings], (...parts) => WebhookPoster.open(...parts)),
    WebhookAttempts,
    WebhookDispatcher,
    DispatcherObserver,
    DeliveryRetries,
    BodySweeper,
    FormerUrlSweeper,
    DeveloperRights,
    WebhookDeliveriesService,
    TestWebhookService,
    SecretRotationBroadcast,
    SecretRotationService,
  ],
  exports: [DeliveryRetries, DeveloperRights, SecretRotationService],
})
export class EventsModule {}
