export { CircuitBreaker } from './circuit-breaker.js';
export { doubledMs, JITTER_SHARE, withJitterMs } from './exponential-backoff.js';
export { KeyedTokenBuckets } from './keyed-token-buckets.js';
export { RowCache } from './row-cache.js';
export { throttled } from './throttled.js';
export { TimedSlots } from './timed-slots.js';
export { TokenBucket } from './token-bucket.js';
