export { DAYS_OF_FAILURE, DefaultWebhookStore, type FailingDefault } from './default-webhook.store.js';
