export { API_KEYS } from '../accounts/index.js';
export { ADMIN_KEYS } from '../admin-keys/index.js';
export { MEMBERS } from '../members/index.js';
export { ACCOUNTS, BRANDS, PRICES } from './account-tables.js';
