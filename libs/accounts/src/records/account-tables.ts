import { RecordTable } from '@countersign/postgres';
import { PRICE } from '../prices/price.sql.js';
import type { Price } from '../prices/price.js';

// Operator views of accounts. Requests read through the AccountDirectory.

export const PRICES = new RecordTable<Price>({ table: 'prices', columns: PRICE });
