import { ACCOUNT_KEY_DEPENDANTS } from '@countersign/accounts/keys';
import { CARRIER_KEY_DEPENDANTS } from '@countersign/carriers/credentials';
import { joinDependants } from '@countersign/key-ring';
import { SESSION_KEY_DEPENDANTS } from '@countersign/session';

/** Columns and rows of the gateway's tables that depend on the master key. The control plane has further ones. */
export const KEY_DEPENDANTS = joinDependants(ACCOUNT_KEY_DEPENDANTS, CARRIER_KEY_DEPENDANTS, SESSION_KEY_DEPENDANTS);
