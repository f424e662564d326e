export { ACCOUNTS, ADMIN_KEYS, API_KEYS, BRANDS, PRICES } from './account-tables.js';
