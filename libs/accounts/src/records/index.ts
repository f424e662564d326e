export { ACCOUNTS, API_KEYS, BRANDS } from '../accounts/index.js';
export { ADMIN_KEYS } from '../admin-keys/index.js';
export { PRICES } from './account-tables.js';
