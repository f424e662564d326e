import { Injectable } from '@nestjs/common';
import { AdminKeyUse, ApiKeyUse } from './key-use.js';
import type { Caller } from './route-access.js';

/** Records when stored keys were used. */
@Injectable()
export class KeyUses {
  constructor(
    private readonly apiKeyUse: ApiKeyUse,
    private readonly adminKeyUse: AdminKeyUse,
  ) {}

  onAuthenticated(caller: Caller): void {
    if (caller.kind !== 'admin') this.apiKeyUse.recordUse(caller.keyId);
    else if (caller.keyId !== null) this.adminKeyUse.recordUse(caller.keyId);
  }
}
