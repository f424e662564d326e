export {
  HELD_FOR_SECONDS,
  LEASE_SECONDS,
  leaseKey,
  slotKey,
  type BindLease,
  type BindSlotName,
  type ClaimedLease,
  type LeaseSurvey,
  type SurveyedSlot,
} from './bind-lease.js';
export { BindLeaseStore, type HeldConnection, type OutbindRow, type SlotEvents } from './bind-lease.store.js';
export { linksBoundElsewhere } from './bound-elsewhere.js';
export { GatewayStore, type GatewayIdentity } from './gateway.store.js';
export { isBindLease, linkKey, type SendingLink } from './sending-link.js';
export { SystemConnectionStore, type ConnectionsElsewhere, type SystemConnection } from './system-connection.store.js';
