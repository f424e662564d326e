import { type DynamicModule, Module } from '@nestjs/common';
import { AdminModule } from './admin/admin.module.js';
import { CardRevocationSubscriber } from './cards/card-revocation.subscriber.js';
import { CardsModule } from './cards/cards.module.js';
import { DocsModule } from './docs/docs.module.js';
import { BroadcastSubscriber } from './events/broadcast.subscriber.js';
import type { EventSubscriber } from './events/event.subscriber.js';
import { EventsModule } from './events/events.module.js';
import { Mutex } from './events/mutex.js';
import { Outbox } from './events/outbox.js';
import { ApprovalStore } from './guard/approval.store.js';
import { ApprovalSubscriber } from './guard/approval.subscriber.js';
import { OtpModule } from './otp/otp.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { RealtimeModule } from './realtime/realtime.module.js';
import { StoresModule, type Stores } from './stores/stores.js';
import { TestNumbersModule } from './test-numbers/test-numbers.module.js';
import { UsageModule } from './usage/usage.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { DeliverySubscriber } from './webhooks/delivery.subscriber.js';
import {
  refusedEvents,
  startWebhookWorkers,
  type WebhooksOptions,
  WebhooksModule,
  type WebhookWorkers,
} from './webhooks/webhooks.module.js';

/** The modules of the control plane. */
@Module({})
export class AppModule {
  static over(options: WebhooksOptions): DynamicModule {
    const stores = StoresModule.of(options.stores);
    const testNumbers = TestNumbersModule.over(options);
    const idempotency = IdempotencyModule.over(options);
    const mutex = new Mutex();
    const outbox = new Outbox({ ...options.stores, onRefused: refusedEvents(options) });
    const webhooks = startWebhookWorkers(options, outbox, mutex);
    outbox.subscribe(eventSubscribers(options.stores, webhooks));
    return {
      module: AppModule,
      imports: [
        VerifyModule.over(
          stores,
          testNumbers,
          idempotency,
          CardsModule.over(options),
          options.settings.liveSessionsPerPhone,
        ),
        UsageModule.over(options),
        OtpModule.over(options, stores, testNumbers, idempotency),
        AdminModule.over(options),
        EventsModule.over(options, outbox, mutex),
        WebhooksModule.over(options, webhooks),
        RealtimeModule.over(options),
        DocsModule.at(options.settings.publicBaseUrl),
      ],
    };
  }
}

/** Everything that happens with a dispatched event, in the order of the reactions to its commit. */
const eventSubscribers = (
  { cards, cardNotifier, keys, eventBroadcast }: Stores,
  { store, dispatcher }: WebhookWorkers,
): readonly EventSubscriber[] => [
  new CardRevocationSubscriber(cards, cardNotifier),
  new ApprovalSubscriber(new ApprovalStore(keys)),
  new BroadcastSubscriber(eventBroadcast),
  new DeliverySubscriber(store, dispatcher),
];
