import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { CardOfferStore } from '@countersign/rcs/offers';
import { CardRevocationSubscriber } from '../../apps/control-plane/src/cards/card-revocation.subscriber.js';
import { Outbox } from '../../apps/control-plane/src/events/outbox.js';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { ApprovalSubscriber } from '../../apps/control-plane/src/guard/approval.subscriber.js';
import {
  type Capacity,
  DeliveryStore,
  type NewDeliveries,
} from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { DeliverySubscriber } from '../../apps/control-plane/src/webhooks/delivery.subscriber.js';
import type { SessionHarness } from './session-harness.js';

/** The outbox and the delivery rows as one process sees them; two of these share nothing but the database. */
export interface DeliveryWorker {
  readonly store: DeliveryStore;
  /** Its deliveries are not claimed. */
  readonly outbox: Outbox;
  /** Dispatches events; their deliveries are claimed within these capacities of hosts (by default none) and accounts. */
  readonly dispatchNamed: (
    ids: readonly Uuid[],
    capacityFor?: Capacity['capacityFor'],
    capacityForAccount?: Capacity['capacityForAccount'],
  ) => Promise<NewDeliveries & { readonly dispatched: number }>;
}

const NO_CAPACITY = { capacityForNew: () => 0, capacityForAccount: () => 0, addClaimed: () => undefined };

export function deliveryWorkerOf(
  harness: SessionHarness,
  onUnreadable: (id: Uuid, error: unknown) => void,
): DeliveryWorker {
  const { database, clock, keys, sessions, renderer } = harness;
  const cards = new CardOfferStore({ database, unreachableSeconds: 60 });
  const events = new EventStore();
  const outboxWith = (deliveries: DeliverySubscriber): Outbox => {
    const outbox = new Outbox({ database, events, onRefused: (refused) => onUnreadable(refused.eventId, refused) });
    outbox.subscribe([
      new CardRevocationSubscriber(cards, { notify: () => undefined }),
      new ApprovalSubscriber(new ApprovalStore(keys)),
      deliveries,
    ]);
    return outbox;
  };
  const store = new DeliveryStore({
    ...{ database, clock, keys, sessions, renderer, events },
    maxBatch: 100,
    onBatch: () => undefined,
    onUnreadable,
    onRefused: (refused) => onUnreadable(refused.eventId, refused),
  });
  return {
    store,
    outbox: outboxWith(new DeliverySubscriber(store, NO_CAPACITY)),
    dispatchNamed: async (ids, capacityForNew = () => 0, capacityForAccount = () => 100) => {
      let created: NewDeliveries = { claimed: [], leftOver: [] };
      const addClaimed = (deliveries: NewDeliveries): void => {
        created = deliveries;
      };
      const dispatched = await outboxWith(
        new DeliverySubscriber(store, { capacityForNew, capacityForAccount, addClaimed }),
      ).dispatchNamed(ids);
      return { dispatched, ...created };
    },
  };
}
