import { RecordTable } from '@countersign/postgres';
import { ADMIN_KEY } from '../admin-keys/admin-key.sql.js';
import type { AdminKey } from '../admin-keys/admin-key.js';
import { ACCOUNT, API_KEY, BRAND } from '../accounts/account.sql.js';
import type { Account, ApiKey, Brand } from '../accounts/account.js';
import { PRICE } from '../prices/price.sql.js';
import type { Price } from '../prices/price.js';

// Operator views of accounts. Requests read through the AccountDirectory.

export const ACCOUNTS = new RecordTable<Account>({ table: 'accounts', columns: ACCOUNT });
export const BRANDS = new RecordTable<Brand>({ table: 'brands', columns: BRAND, owner: 'account_id' });
export const API_KEYS = new RecordTable<ApiKey>({ table: 'api_keys', columns: API_KEY, owner: 'account_id' });
export const PRICES = new RecordTable<Price>({ table: 'prices', columns: PRICE });
export const ADMIN_KEYS = new RecordTable<AdminKey>({ table: 'admin_keys', columns: ADMIN_KEY });
