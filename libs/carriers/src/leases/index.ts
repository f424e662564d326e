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
export { BindLeaseStore, type HeldConnection, type OutbindRow } from './bind-lease.store.js';
export {
  BIND_STATES,
  bindStatus,
  CONNECTION_STATES,
  parseConnectionState,
  type BindConnection,
  type ConnectionState,
  type ConnectionStatus,
  type PreviousError,
} from './bind-status.js';
export { linksBoundElsewhere } from './bound-elsewhere.js';
export { GatewayStore, type GatewayIdentity } from './gateway.store.js';
export { isBindLease, linkKey, type SendingLink } from './sending-link.js';
export { parseInstant } from './stored-status.js';
export { parseSystemConnectionStatus } from './system-connection-status.js';
export { SystemConnectionStore, type ConnectionsElsewhere, type SystemConnection } from './system-connection.store.js';
