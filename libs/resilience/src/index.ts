export { doubledMs, JITTER_SHARE, withJitterMs } from './exponential-backoff.js';
export { ROW_CACHE_MAX_AGE_MS, RowCache, type RowCacheOptions } from './row-cache.js';
