import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { CardRevocationSubscriber } from './cards/card-revocation.subscriber.js';
import { BroadcastSubscriber } from './events/broadcast.subscriber.js';
import { EVENT_SUBSCRIBERS, type EventSubscriber } from './events/event.subscriber.js';
import { EventsConsumer } from './events/events.consumer.js';
import { OutboxDispatcher } from './events/outbox.dispatcher.js';
import { Outbox } from './events/outbox.js';
import { ApprovalSubscriber } from './guard/approval.subscriber.js';
import { DeliverySubscriber } from './webhooks/delivery.subscriber.js';

/** The dispatch of events, and everything that happens with a dispatched event. */
@Module({
  imports: [BullModule.registerQueue()],
  providers: [
    CardRevocationSubscriber,
    ApprovalSubscriber,
    BroadcastSubscriber,
    {
      provide: EVENT_SUBSCRIBERS,
      inject: [CardRevocationSubscriber, ApprovalSubscriber, BroadcastSubscriber, DeliverySubscriber],
      useFactory: (...inOrder: EventSubscriber[]) => inOrder,
    },
    Outbox,
    OutboxDispatcher,
    EventsConsumer,
  ],
  exports: [Outbox],
})
export class OutboxModule {}
