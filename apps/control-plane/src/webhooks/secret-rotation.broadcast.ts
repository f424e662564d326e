import type { AccountDirectory } from '@countersign/accounts/accounts';
import { TOPICS, type PubSub } from '@countersign/bus';
import type { Uuid } from '@countersign/ids';

/** Discards cached webhook secrets of an account in all control planes, so that the new secret signs from then on. */
export class SecretRotationBroadcast {
  constructor(
    private readonly accounts: Pick<AccountDirectory, 'forgetWebhookSecrets'>,
    private readonly bus: Pick<PubSub, 'publish' | 'subscribe'>,
  ) {
    bus.subscribe(TOPICS.webhookSecrets, (message) => {
      const accountId = message.json();
      if (typeof accountId === 'string') accounts.forgetWebhookSecrets(accountId);
    });
  }

  /** After the commit of a rotation. Never throws, never waits. */
  onRotated(accountId: Uuid): void {
    this.accounts.forgetWebhookSecrets(accountId);
    this.bus.publish(TOPICS.webhookSecrets, accountId);
  }
}
