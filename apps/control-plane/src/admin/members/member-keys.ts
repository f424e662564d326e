import { AccountStore, type ApiKey } from '@countersign/accounts/accounts';
import type { Member } from '@countersign/accounts/members';
import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../crud/admin-resource.js';
import { keyView } from '../keys/key.view.js';

/** The API keys whose texts a member of an account knows: they outlive the member's sessions, and the member. */
@Injectable()
export class MemberKeys {
  constructor(
    private readonly accounts: AccountStore,
    private readonly audit: AuditStore,
  ) {}

  /** The keys that are not revoked, locked. A member of the installation has none. */
  async lock(tx: Executor, { id, accountId }: Pick<Member, 'id' | 'accountId'>): Promise<ApiKey[]> {
    return accountId === null ? [] : this.accounts.lockKeysOfMember(tx, accountId, id);
  }

  /** Each with its entry of the audit log. */
  async revoke(tx: Executor, keys: readonly ApiKey[], { actor, requestId }: Actor): Promise<void> {
    for (const key of keys) {
      const revoked = await this.accounts.revokeApiKey(tx, key.id);
      if (revoked === null) continue;
      const resourceId = renderId('key', key.id);
      await this.audit.append(tx, {
        ...{ actor, action: 'revoke', resource: 'keys', resourceId, requestId },
        ...{ before: keyView(key), after: keyView(revoked) },
      });
    }
  }
}
