import { KeyUse } from '@countersign/accounts/keys';
import { Injectable } from '@nestjs/common';
import { AdminKeyUse } from './admin-key-use.js';
import type { Caller } from './route-access.js';

/** Records when stored keys were used. */
@Injectable()
export class KeyUses {
  constructor(
    private readonly keyUse: KeyUse,
    private readonly adminKeyUse: AdminKeyUse,
  ) {}

  onAuthenticated(caller: Caller): void {
    if (caller.kind !== 'admin') this.keyUse.recordUse(caller.keyId);
    else if (caller.keyId !== null) this.adminKeyUse.recordUse(caller.keyId);
  }
}
