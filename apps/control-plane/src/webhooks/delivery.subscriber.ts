import type { DueEvent } from '@countersign/events';
import type { Executor } from '@countersign/postgres';
import { Inject, Injectable } from '@nestjs/common';
import type { AfterCommit, EventSubscriber } from '../events/event.subscriber.js';
import { DeliveryStore } from './delivery.store.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';

/** Creates the deliveries of events. Deliveries for which their host has capacity are claimed as they are created. */
@Injectable()
export class DeliverySubscriber implements EventSubscriber {
  constructor(
    @Inject(DeliveryStore) private readonly store: Pick<DeliveryStore, 'createDeliveries'>,
    @Inject(WebhookDispatcher)
    private readonly dispatcher: Pick<WebhookDispatcher, 'capacityForNew' | 'capacityForAccount' | 'addClaimed'>,
  ) {}

  async handle(tx: Executor, events: readonly DueEvent[]): Promise<AfterCommit> {
    // A test event is dispatched by its request, concurrently with claims: its delivery is left to the next claim.
    if (events.some(({ type }) => type === 'webhook.test')) {
      await this.store.createDeliveries(tx, events);
      return () => undefined;
    }
    const startedMs = performance.now();
    const created = await this.store.createDeliveries(tx, events, {
      capacityFor: (host) => this.dispatcher.capacityForNew(host),
      capacityForAccount: (owner) => this.dispatcher.capacityForAccount(owner),
    });
    return () => this.dispatcher.addClaimed(created, startedMs);
  }
}
