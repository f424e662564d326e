import { AccountDirectory, type ApiKeyPrincipal } from '@countersign/accounts/accounts';
import type { NewEvent } from '@countersign/events';
import { isTestMode, type Mode, type Tenant } from '@countersign/keys';
import { renderId } from '@countersign/ids';
import { DatabaseClock } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { Outbox } from '../events/outbox.js';
import { refuse, type Outcome } from '../http/errors.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

const NO_DEFAULT_URL: Readonly<Record<Mode, string>> = {
  live: 'url is required: the account has no default webhook URL.',
  test: 'url is required: the account has no testWebhookUrl, and test keys never use its default webhook URL.',
};

/** Sends test events to the webhook URLs of an account (contract, Webhooks). */
@Injectable()
export class TestWebhookService {
  constructor(
    private readonly clock: DatabaseClock,
    private readonly accounts: AccountDirectory,
    private readonly outbox: Outbox,
    private readonly deliveries: WebhookDeliveriesService,
  ) {}

  /** Sends a `webhook.test` to the URL, by default to the account's URL of the key's mode, like every other event. */
  async sendTest(caller: ApiKeyPrincipal, url: string | undefined): Promise<Outcome<string>> {
    const { tenant } = caller;
    const target = url ?? (await this.defaultUrl(tenant));
    if (target === null) return refuse('VALIDATION_ERROR', { message: NO_DEFAULT_URL[tenant.mode], field: 'url' });
    const event = this.testEvent(tenant, new URL(target).href);
    await this.outbox.dispatchNew(event);
    return this.deliveries.sendNew(caller, event.id, target);
  }

  private async defaultUrl({ accountId, mode }: Tenant): Promise<string | null> {
    const account = await this.accounts.account(accountId);
    return (mode === 'test' ? account?.testWebhookUrl : account?.defaultWebhookUrl) ?? null;
  }

  private testEvent(tenant: Tenant, url: string): NewEvent {
    const { clock } = this;
    const { accountId } = tenant;
    return {
      id: clock.newId(),
      type: 'webhook.test',
      accountId,
      test: isTestMode(tenant),
      sessionId: null,
      occurredAt: new Date(clock.nowMs()),
      data: JSON.stringify({ accountId: renderId('acct', accountId) }),
      sessionWebhookUrl: url,
    };
  }
}
