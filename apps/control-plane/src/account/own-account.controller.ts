import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import type { Plain } from '../admin/crud/plain.js';
import { BodyPipe, NoBodyPipe } from '../http/body.pipe.js';
import { valueOf } from '../http/errors.js';
import { RotatedSecretAnswer } from '../webhooks/delivery.view.js';
import { SecretRotationService } from '../webhooks/secret-rotation.service.js';
import { ByDeveloper, type Developer } from '../http/developer.decorator.js';
import { SeesPeople } from '../http/sees-people.decorator.js';
import { AccountCall } from './account-call.js';
import { OwnWebhookChange } from './own-account.dto.js';
import { OwnAccountService } from './own-account.service.js';
import { OwnAccountAnswer, OwnWebhookAnswer } from './own-account.view.js';

@Controller('v1/account')
export class OwnAccountController {
  constructor(
    private readonly account: OwnAccountService,
    private readonly secrets: SecretRotationService,
  ) {}

  @Get()
  @AccountCall({
    id: 'getOwnAccount',
    summary: 'Show the account',
    description: 'The account of the key, and what an operator has set for it.',
    type: OwnAccountAnswer,
  })
  show(@ByDeveloper() by: Developer): Promise<Plain<OwnAccountAnswer>> {
    return this.account.show(by);
  }

  @Get('webhook')
  @AccountCall({ id: 'getAccountWebhook', summary: 'Show where events go', type: OwnWebhookAnswer })
  showWebhook(@ByDeveloper() by: Developer, @SeesPeople() seesPeople: boolean): Promise<Plain<OwnWebhookAnswer>> {
    return this.account.showWebhook(by, seesPeople);
  }

  @Patch('webhook')
  @AccountCall({
    id: 'updateAccountWebhook',
    summary: 'Change where events go',
    description:
      'Omitted fields are unchanged. Takes effect everywhere within 5 s. Setting `defaultWebhookUrl` enables it again. A test key changes `testWebhookUrl` alone.',
    body: 'json',
    confirmedWith: ['webhooks'],
    type: OwnWebhookAnswer,
    errors: ['INVALID_WEBHOOK_URL'],
  })
  async changeWebhook(
    @ByDeveloper() by: Developer,
    @Body(BodyPipe) change: OwnWebhookChange,
  ): Promise<Plain<OwnWebhookAnswer>> {
    return valueOf(await this.account.changeWebhook(by, change));
  }

  @Post('webhook/secret/rotate')
  @HttpCode(200)
  @AccountCall({
    id: 'rotateAccountWebhookSecret',
    summary: 'Replace the secret that signs webhooks',
    description:
      'As `POST /v1/webhooks/secret/rotate`: the secret of live webhooks with a live key, that of test webhooks with a test key.',
    confirmedWith: ['webhooks'],
    type: RotatedSecretAnswer,
  })
  async rotateSecret(@ByDeveloper() by: Developer, @Body(NoBodyPipe) _nothing: null): Promise<RotatedSecretAnswer> {
    return valueOf(await this.secrets.rotateSecret(by));
  }
}
