export { AUDIT_ENTRIES, AuditStore, type AuditEntry, type NewAuditEntry } from './audit.store.js';
export {
  type DueEvent,
  EVENT_TYPES,
  type EventType,
  type NewEvent,
  SESSION_EVENT_TYPES,
  showsSession,
  type StoredEvent,
} from './event.js';
export { DispatchSnapshot } from './dispatch-snapshot.js';
export { EventStore, type DispatchedEvent, type UnseenCursor } from './event-store.js';
export { otpDeliveryEvent, type OtpDelivery } from './otp-delivery.js';
export { isRunning } from './queue-switch.sql.js';
export { MAX_COUNTED, QueueSwitchStore, type QueueDepth, type QueueSwitch } from './queue-switch.store.js';
export { prepareByDaemon, prepareDatabase } from './prepare-database.js';
export { idsOf, QUEUE_PREFIX, QUEUES, type QueueName } from './queues.js';
