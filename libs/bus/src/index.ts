export { Bell, type BellQueue, RING, type Ring } from './bell.js';
export {
  bellConnection,
  type BellOptions,
  type BellUse,
  bellWorkerOptions,
  prepareBell,
  WORKER_RETRY_MS,
} from './bell-connection.js';
export { hearsNotifications } from './notification-check.js';
