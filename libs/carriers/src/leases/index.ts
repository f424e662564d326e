export {
  HELD_FOR_SECONDS,
  LEASE_SECONDS,
  leaseKey,
  slotKey,
  type BindLease,
  type BindSlotName,
  type LeaseSurvey,
  type SurveyedSlot,
} from './bind-lease.js';
export { BindLeaseStore, type HeldConnection } from './bind-lease.store.js';
export {
  BIND_STATES,
  bindStatus,
  CONNECTION_STATES,
  type BindConnection,
  type ConnectionState,
  type ConnectionStatus,
} from './bind-status.js';
export { linksBoundElsewhere } from './bound-elsewhere.js';
export { GatewayStore, type GatewayIdentity } from './gateway.store.js';
export { isBindLease, linkKey, type ConnectedSystem, type SendingLink } from './sending-link.js';
export { SystemConnectionStore, type ConnectionsElsewhere, type SystemConnection } from './system-connection.store.js';
