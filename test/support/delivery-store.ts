import { CardOfferStore } from '@countersign/rcs/offers';
import { EventStore } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { ApprovalStore } from '../../apps/control-plane/src/guard/approval.store.js';
import { DeliveryStore } from '../../apps/control-plane/src/webhooks/delivery.store.js';
import type { SessionHarness } from './session-harness.js';

/** The rows of webhooks as one process sees them; two of them share nothing but the database. */
export function deliveryStoreOf(
  harness: SessionHarness,
  onUnreadable: (id: Uuid, error: unknown) => void,
): DeliveryStore {
  const { database, clock, keys, sessions, renderer } = harness;
  return new DeliveryStore({
    ...{ database, clock, keys, sessions, renderer },
    events: new EventStore(),
    approvals: new ApprovalStore(keys),
    cards: new CardOfferStore({ database, unreachableSeconds: 60 }),
    onRevoked: () => undefined,
    onDispatched: () => undefined,
    maxBatch: 100,
    onBatch: () => undefined,
    onUnreadable,
  });
}
