import { queueConnection, type QueueStoreOptions } from '@countersign/bus';
import { QUEUE_PREFIX } from '@countersign/events';
import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import type { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import type { FailureLog } from '../operations/failure-log.js';
import { EventsConsumer } from './events.consumer.js';
import type { Mutex } from './mutex.js';
import type { Outbox } from './outbox.js';
import { OutboxDispatcher } from './outbox.dispatcher.js';

export interface EventsOptions {
  readonly settings: QueueStoreOptions;
  readonly stores: { readonly eventNotifier: EventJobNotifier };
  readonly failures: FailureLog;
}

@Module({})
export class EventsModule {
  /** The dispatcher starts here: the outbox has its subscribers by then. */
  static over({ settings, stores, failures }: EventsOptions, outbox: Outbox, mutex: Mutex): DynamicModule {
    const dispatcher = new OutboxDispatcher({
      outbox,
      mutex,
      onError: failures.about('outbox dispatcher: dispatching events'),
    });
    stores.eventNotifier.connect((ids) => dispatcher.wake(ids));
    const consumer = new EventsConsumer(dispatcher, failures.about('event queue: the connection of the worker'));
    const connection = queueConnection(settings, 'worker');
    return {
      module: EventsModule,
      imports: [BullModule.forRoot('worker', { connection, prefix: QUEUE_PREFIX }), BullModule.registerQueue()],
      providers: [
        { provide: OutboxDispatcher, useValue: dispatcher },
        { provide: EventsConsumer, useValue: consumer },
      ],
    };
  }
}
