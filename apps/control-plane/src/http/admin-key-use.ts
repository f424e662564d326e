import { KeyUse } from '@countersign/accounts/keys';

/** Records when admin keys were used. */
export class AdminKeyUse extends KeyUse {}
