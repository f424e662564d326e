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
export { CONNECTION_EVENTS, withEvent, type ConnectionEvent } from './connection-event.js';
export { parseInstant } from './stored-status.js';
export { parseSystemConnectionStatus } from './system-connection-status.js';
