import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { CardOfferStore } from '@countersign/rcs/offers';
import { CardRevocationSubscriber } from '../../apps/control-plane/src/cards/card-revocation.subscriber.js';
import { Outbox } from '../../apps/control-plane/src/events/outbox.js';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { ApprovalSubscriber } from '../../apps/control-plane/src/guard/approval.subscriber.js';
import { BodyRenderer } from '../../apps/control-plane/src/webhooks/body-renderer.js';
import { DeliveryBodies } from '../../apps/control-plane/src/webhooks/delivery-bodies.js';
import {
  type Capacity,
  DeliveryStore,
  type NewDeliveries,
} from '../../apps/control-plane/src/webhooks/delivery.store.js';
import { DeliverySubscriber } from '../../apps/control-plane/src/webhooks/delivery.subscriber.js';
import { EventAgreement } from '../../apps/control-plane/src/webhooks/event-agreement.js';
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

/** @param onUnreadable gets errors of bodies, and `EventRefused` of refused events */
export function deliveryWorkerOf(harness: SessionHarness, onUnreadable: (error: unknown) => void): DeliveryWorker {
  const { database, clock, keys, sessions, renderer } = harness;
  const cards = new CardOfferStore({ database, unreachableSeconds: 60 });
  const events = new EventStore();
  const refusals = { onRefused: onUnreadable };
  const outboxWith = (deliveries: DeliverySubscriber): Outbox =>
    new Outbox(
      database,
      events,
      [
        new CardRevocationSubscriber(cards, { notify: () => undefined }),
        new ApprovalSubscriber(new ApprovalStore(keys)),
        deliveries,
      ],
      refusals,
    );
  const bodyRenderer = new BodyRenderer(keys, renderer);
  const agreement = new EventAgreement(refusals);
  const bodies = new DeliveryBodies(events, sessions, bodyRenderer, agreement, { about: () => onUnreadable });
  const metrics = { countBatch: () => undefined, countRefusedEvent: () => undefined };
  const store = new DeliveryStore(database, clock, bodies, { batchMaxCommands: 100 }, metrics);
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
