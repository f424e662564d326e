import { ACCOUNT_KEY_DEPENDANTS } from '@countersign/accounts/keys';
import { CARRIER_KEY_DEPENDANTS } from '@countersign/carriers/credentials';
import { joinDependants } from '@countersign/key-ring';
import { SESSION_KEY_DEPENDANTS } from '@countersign/session';
import { IDEMPOTENCY_KEY_ROWS } from '../idempotency/idempotency.rows.js';
import { APPROVED_PHONE_ROWS } from '../guard/approved-phones.rows.js';
import { DELIVERY_KEY_COLUMN } from '../webhooks/delivery.columns.js';

/** All columns and rows that depend on the master key. */
export const KEY_DEPENDANTS = joinDependants(ACCOUNT_KEY_DEPENDANTS, CARRIER_KEY_DEPENDANTS, SESSION_KEY_DEPENDANTS, {
  columns: [DELIVERY_KEY_COLUMN],
  rows: [IDEMPOTENCY_KEY_ROWS, APPROVED_PHONE_ROWS],
});
