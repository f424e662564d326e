import { DefaultWebhookStore } from '@countersign/accounts/webhooks';
import { ControlPlaneSettings } from '@countersign/settings';
import { Module } from '@nestjs/common';
import { provide } from '@countersign/composition';
import { EventRefusals } from '../events/event-refusals.js';
import { Mutex } from '../events/mutex.js';
import { TargetRules } from '../targets/target.js';
import { AttemptObserver } from './attempt.observer.js';
import { AttemptRecorder } from './attempt.recorder.js';
import { BodyRenderer } from './body-renderer.js';
import { BodySweeper } from './body.sweeper.js';
import { DeliveryBodies } from './delivery-bodies.js';
import { DeliveryRetries } from './delivery-retries.js';
import { DeliveryStore } from './delivery.store.js';
import { DeliverySubscriber } from './delivery.subscriber.js';
import { DisabledUrlStore } from './disabled-url.store.js';
import { DispatcherObserver } from './dispatcher.observer.js';
import { EventAgreement } from './event-agreement.js';
import { FailingEndpointMonitor } from './failing-endpoint.monitor.js';
import { FailingUrlService } from './failing-url.service.js';
import { FormerUrlSweeper } from './former-url.sweeper.js';
import { WebhookAttempts } from './webhook-attempts.js';
import { WebhookPoster } from './webhook-poster.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** The background work on deliveries. */
@Module({
  providers: [
    Mutex,
    EventRefusals,
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
    DeliverySubscriber,
    BodySweeper,
    FormerUrlSweeper,
  ],
  exports: [Mutex, EventRefusals, DeliveryStore, DeliveryRetries, WebhookDispatcher, DeliverySubscriber],
})
export class DeliveriesModule {}
