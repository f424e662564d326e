import type { ApiKeyPrincipal } from '@countersign/accounts/accounts';
import { Body, Controller, Get, Header, HttpCode, Param, Post, Query, UseInterceptors } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { NoBodyPipe, OptionalBodyPipe } from '../http/body.pipe.js';
import { CallerKey } from '../http/caller.decorator.js';
import { CSV } from '../http/csv-answer.js';
import { ByDeveloper, type Developer } from '../http/developer.decorator.js';
import { valueOf } from '../http/errors.js';
import { Operation } from '../http/operation.js';
import { QueryPipe } from '../http/query.pipe.js';
import { Access } from '../http/route-access.js';
import { SeesPeople } from '../http/sees-people.decorator.js';
import { OwnerReadsInterceptor } from './owner-reads.interceptor.js';
import { SecretRotationService } from './secret-rotation.service.js';
import { TestWebhookService } from './test-webhook.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { MAX_RECENT_ATTEMPTS } from './delivery-retries.js';
import { DeliveryAnswer, DeliveryListAnswer, RotatedSecretAnswer } from './delivery.view.js';
import { ListDeliveries } from './list-deliveries.dto.js';
import { TestWebhook } from './test-webhook.dto.js';

const JSON_TEXT = 'application/json; charset=utf-8';

/** The webhook deliveries and secrets of an account (contract, Webhooks). Bodies are JSON text as they were posted. */
@Controller('v1/webhooks')
@UseInterceptors(OwnerReadsInterceptor)
export class WebhooksController {
  constructor(
    private readonly service: WebhookDeliveriesService,
    private readonly tests: TestWebhookService,
    private readonly secrets: SecretRotationService,
  ) {}

  @Get('deliveries')
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'webhooks', body: 'none' })
  @Operation({
    id: 'listDeliveries',
    tag: 'Webhooks',
    summary: 'List deliveries',
    description: 'Webhooks of the account with their attempts, newest first, as long as sessions are kept.',
    answer: { status: 200, description: 'One page of deliveries.', type: DeliveryListAnswer, alsoAs: CSV },
    errors: [],
  })
  async list(
    @CallerKey() caller: ApiKeyPrincipal,
    @SeesPeople() seesPeople: boolean,
    @Query(QueryPipe) query: ListDeliveries,
  ): Promise<string> {
    return valueOf(await this.service.list(caller, query, seesPeople));
  }

  @Get('deliveries/:deliveryId')
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'webhooks', body: 'none' })
  @Operation({
    id: 'getDelivery',
    tag: 'Webhooks',
    summary: 'Fetch a delivery',
    answer: { status: 200, description: 'The delivery.', type: DeliveryAnswer },
    errors: ['NOT_FOUND'],
  })
  async find(
    @CallerKey() caller: ApiKeyPrincipal,
    @SeesPeople() seesPeople: boolean,
    @Param('deliveryId') deliveryId: string,
  ): Promise<string> {
    return valueOf(await this.service.find(caller, deliveryId, seesPeople));
  }

  @Post('deliveries/:deliveryId/retry')
  @HttpCode(202)
  @Header('Content-Type', JSON_TEXT)
  @Access({ access: 'key', scope: 'webhooks', body: 'none' })
  @Operation({
    id: 'retryDelivery',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description: `One more attempt at once, with the same \`webhook-id\` and the same bytes. It uses none of the scheduled attempts: a pending delivery goes on with its schedule, one that has ended is attempted once and ends with the result. After ${MAX_RECENT_ATTEMPTS} attempts within an hour it has to wait.`,
    answer: { status: 202, description: 'The delivery, due now.', type: DeliveryAnswer },
    errors: ['NOT_FOUND'],
  })
  async retry(
    @CallerKey() caller: ApiKeyPrincipal,
    @Param('deliveryId') deliveryId: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<string> {
    return valueOf(await this.service.retry(caller, deliveryId));
  }

  @Post('test')
  @HttpCode(202)
  @Header('Content-Type', JSON_TEXT)
  @ApiBody({ type: TestWebhook, required: false })
  @Access({ access: 'key', scope: 'webhooks', body: 'none' })
  @Operation({
    id: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Send a test',
    description:
      'Posts a `webhook.test` to the URL, or to the account’s default URL, under the same rules as every other event. Fetch the delivery to see the result.',
    answer: { status: 202, description: 'Its delivery, due now.', type: DeliveryAnswer },
    errors: ['INVALID_WEBHOOK_URL'],
  })
  async test(@CallerKey() caller: ApiKeyPrincipal, @Body(OptionalBodyPipe) body: TestWebhook): Promise<string> {
    return valueOf(await this.tests.sendTest(caller, body.url));
  }

  @Post('secret/rotate')
  @HttpCode(200)
  @Access({ access: 'key', scope: 'webhooks', body: 'none', confirmedWith: ['webhooks'] })
  @Operation({
    id: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Replace the secret that signs',
    description:
      'Creates a new signing secret, which is shown in this response only. The previous one signs beside it for 24 hours, so that webhooks carry two signatures; up to eight if secrets are replaced again within that time.',
    answer: { status: 200, description: 'The new secret.', type: RotatedSecretAnswer },
    errors: ['CONFIRMATION_REQUIRED', 'CONFLICT'],
  })
  async rotate(@ByDeveloper() by: Developer, @Body(NoBodyPipe) _nothing: null): Promise<RotatedSecretAnswer> {
    return valueOf(await this.secrets.rotateSecret(by));
  }
}
