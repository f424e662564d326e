import { AccountStore, MAX_REPLACED_SECRETS, type ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { Database } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Outcome } from '../http/errors.js';
import type { RotatedSecretAnswer } from './delivery.view.js';
import { SecretRotationBroadcast } from './secret-rotation.broadcast.js';

/** Replaces the signing secrets of webhooks (contract, Webhooks). */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly broadcast: SecretRotationBroadcast,
  ) {}

  /** Creates a secret, shown in this response only. Each replaced secret signs too for a day from its replacement. */
  async rotateSecret({ tenant }: ApiKeyPrincipal): Promise<Outcome<RotatedSecretAnswer>> {
    const rotation = await this.database.transaction((tx) => this.accounts.rotateWebhookSecret(tx, tenant));
    if (!rotation.ok) {
      const message = `${MAX_REPLACED_SECRETS} replaced secrets still sign webhooks. Rotate again when the first of them has expired.`;
      return refuse('RATE_LIMITED', { message, retryAfterSeconds: rotation.retryAfterSeconds });
    }
    this.broadcast.onRotated(tenant.accountId);
    return succeed({ secret: rotation.secret, previousValidUntil: rotation.previousUntil.toISOString() });
  }
}
