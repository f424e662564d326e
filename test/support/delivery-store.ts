import { EventStore, type NewEvent } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { CardOfferStore } from '@countersign/rcs/offers';
import { CardRevocationSubscriber } from '../../apps/control-plane/src/cards/card-revocation.subscriber.js';
import { Outbox } from '../../apps/control-plane/src/events/outbox.js';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { ApprovalSubscriber } from '../../apps/control-plane/src/guard/approval.subscriber.js';
import { DeliveryBodies } from '../../apps/control-plane/src/webhooks/delivery-bodies.js';
import {
  type CapacityFor,
  DeliveryStore,
  type NewDeliveries,
} from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { DeliverySubscriber } from '../../apps/control-plane/src/webhooks/delivery.subscriber.js';
import type { SessionHarness } from './session-harness.js';

/** The outbox and the delivery rows as one process sees them; two of these share nothing but the database. */
export interface DeliveryWorker {
  readonly store: DeliveryStore;
  /** Appends and dispatches an event; its delivery is not claimed. */
  readonly dispatchNew: (event: NewEvent) => Promise<void>;
  /** Dispatches events; their deliveries are claimed within this capacity, by default none. */
  readonly dispatchNamed: (
    ids: readonly Uuid[],
    capacityFor?: CapacityFor,
  ) => Promise<NewDeliveries & { readonly dispatched: number }>;
}

export function deliveryWorkerOf(harness: SessionHarness, onUnreadable: (error: unknown) => void): DeliveryWorker {
  const { database, clock, keys, sessions, renderer } = harness;
  const cards = new CardOfferStore({ database, unreachableSeconds: 60 });
  const events = new EventStore();
  const outboxWith = (deliveries: DeliverySubscriber): Outbox =>
    new Outbox(database, events, [
      new CardRevocationSubscriber(cards, { notify: () => undefined }),
      new ApprovalSubscriber(new ApprovalStore(keys)),
      deliveries,
    ]);
  const bodies = new DeliveryBodies(keys, events, sessions, renderer, { about: () => onUnreadable });
  const store = new DeliveryStore(database, clock, bodies, { batchMaxCommands: 100 }, { countBatch: () => undefined });
  return {
    store,
    dispatchNew: (event) =>
      outboxWith(new DeliverySubscriber(store, { capacityForNew: () => 0, addClaimed: () => undefined })).dispatchNew(
        event,
      ),
    dispatchNamed: async (ids, capacityFor = () => 0) => {
      let created: NewDeliveries = { claimed: [], leftOver: [] };
      const addClaimed = (deliveries: NewDeliveries): void => {
        created = deliveries;
      };
      const dispatched = await outboxWith(
        new DeliverySubscriber(store, { capacityForNew: capacityFor, addClaimed }),
      ).dispatchNamed(ids);
      return { dispatched, ...created };
    },
  };
}
