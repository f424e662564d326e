import { SIGN_IN_ACCOUNT_ID } from '@countersign/keys';

/** Sessions that sign in to the console are nobody's traffic: no count, ratio or time has them. */
export const COUNTED = `account_id <> '${SIGN_IN_ACCOUNT_ID}'::uuid`;
