import { PickType } from '@nestjs/swagger';
import { AccountDraft } from '../admin/accounts/account.dto.js';
import { ChangeOf } from '../admin/crud/fields.js';

/** The body of PATCH /v1/account/webhook. */
export class OwnWebhookChange extends ChangeOf(
  PickType(AccountDraft, ['defaultWebhookUrl', 'testWebhookUrl', 'webhookEvents']),
) {}
