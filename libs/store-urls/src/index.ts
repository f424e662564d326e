export { DATABASE_URL_FORM, databaseUrls } from './database-url.js';
export { readRedisUrl, REDIS_URL_FORM, type RedisNode, type RedisTarget } from './redis-url.js';
