export { JobNotifier, type JobIds } from './job-notifier.js';
export {
  queueConnection,
  type QueueStoreOptions,
  queueWorkerOptions,
  migrateQueues,
  prepareQueues,
  WORKER_RETRY_MS,
} from './queue-connection.js';
export { pingQueue, removeForeignValues } from './queue-redis.js';
export { MAX_SCHEDULERS_READ } from './queue-redis.lua.js';
export { Limiter, LIMITER_TIMEOUT_MS, type LimiterStore, type Quota, type QuotaResult } from './limiter.js';
export { memoryLimiterStore, openLimiter, openLimiterStore } from './limiter-store.js';
export { receivesNotifications } from './notification-check.js';
export { openPubSub } from './open-pub-sub.js';
export {
  type BusMessage,
  MAX_MESSAGE_OCTETS,
  MAX_PUBLISHED_OCTETS,
  type MessageHandler,
  type Payload,
  PubSub,
  type Subscription,
} from './pub-sub.js';
export { TOPICS, type Topic } from './topics.js';
