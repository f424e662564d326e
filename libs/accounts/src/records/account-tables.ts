import { SIGN_IN_ACCOUNT_ID, SIGN_IN_BRAND_ID } from '@countersign/keys';
import { RecordTable } from '@countersign/postgres';
import { ACCOUNTS as ALL_ACCOUNTS, BRANDS as ALL_BRANDS } from '../accounts/index.js';
import { PRICE } from '../prices/price.sql.js';
import type { Price } from '../prices/price.js';

// Operator views of accounts. Requests read through the AccountDirectory.

export const PRICES = new RecordTable<Price>({ table: 'prices', columns: PRICE });

/** Without the account of sign-ins to the console, which nobody administers. */
export const ACCOUNTS = ALL_ACCOUNTS.without(SIGN_IN_ACCOUNT_ID);
export const BRANDS = ALL_BRANDS.without(SIGN_IN_BRAND_ID);
