export { Bell, type BellQueue, RING, type Ring } from './bell.js';
export {
  bellConnection,
  type BellMigration,
  type BellOptions,
  type BellUse,
  bellWorkerOptions,
  migrateBell,
  prepareBell,
  WORKER_RETRY_MS,
} from './bell-connection.js';
export {
  type Count,
  Limiter,
  LIMITER_PATIENCE_MS,
  type LimiterOptions,
  type LimiterStore,
  type Quota,
  type Standing,
} from './limiter.js';
export { memoryLimiterStore, openLimiter, openLimiterStore } from './limiter-store.js';
export { hearsNotifications } from './notification-check.js';
export { openPubSub } from './open-pub-sub.js';
export {
  type Answerer,
  type BusMessage,
  MAX_MESSAGE_OCTETS,
  type MessageHandler,
  type Payload,
  PubSub,
  type Subscription,
} from './pub-sub.js';
