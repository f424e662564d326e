import { AccountStore, MAX_REPLACED_SECRETS } from '@countersign/accounts/accounts';
import { ACCOUNTS } from '@countersign/accounts/records';
import { AuditStore } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import type { Developer } from '../http/developer.decorator.js';
import { DeveloperRights } from '../http/developer-rights.js';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import type { RotatedSecretAnswer } from './delivery.view.js';
import { SecretRotationBroadcast } from './secret-rotation.broadcast.js';

/** Replaces the signing secrets of webhooks (contract, Webhooks). */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly audit: AuditStore,
    private readonly broadcast: SecretRotationBroadcast,
    private readonly rights: DeveloperRights,
  ) {}

  /**
   * Creates a secret, shown in this response only. Each replaced secret signs too for a day from its replacement. The entry
   * of the audit log has neither.
   */
  rotateSecret(by: Developer): Promise<Outcome<RotatedSecretAnswer>> {
    return this.rights.inTurn(by, () => this.rotateInTurn(by));
  }

  private async rotateInTurn(by: Developer): Promise<Outcome<RotatedSecretAnswer>> {
    const { tenant } = by.caller;
    const rotation = await this.database.transaction(async (tx) => {
      // Before the key of the call, as in every change of a developer.
      await ACCOUNTS.lock(tx, tenant.accountId);
      const held = await this.rights.hold(tx, by);
      if (!held.ok) return held;
      const rotated = await this.accounts.rotateWebhookSecret(tx, tenant);
      if (!rotated.ok) return rotated;
      const { actor, requestId } = by;
      const resourceId = renderId('acct', tenant.accountId);
      const after = { mode: tenant.mode, previousValidUntil: rotated.previousUntil.toISOString() };
      await this.audit.append(tx, {
        ...{ actor, action: 'rotate', resource: 'webhook-secrets', resourceId, before: null, after, requestId },
      });
      return rotated;
    });
    if (!rotation.ok) {
      if ('refusal' in rotation) return rotation;
      const message = `${MAX_REPLACED_SECRETS} replaced secrets still sign webhooks. Rotate again when the first of them has expired.`;
      return refuse('RATE_LIMITED', { message, retryAfterSeconds: rotation.retryAfterSeconds });
    }
    this.broadcast.onRotated(tenant.accountId);
    return succeed({ secret: rotation.secret, previousValidUntil: rotation.previousUntil.toISOString() });
  }
}
