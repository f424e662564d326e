import { Module } from '@nestjs/common';
import { DeveloperRights } from '../http/developer-rights.js';
import { SecretRotationBroadcast } from './secret-rotation.broadcast.js';
import { SecretRotationService } from './secret-rotation.service.js';
import { TestWebhookService } from './test-webhook.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhooksController } from './webhooks.controller.js';

/** The requests about webhooks. */
@Module({
  controllers: [WebhooksController],
  providers: [
    DeveloperRights,
    WebhookDeliveriesService,
    TestWebhookService,
    SecretRotationBroadcast,
    SecretRotationService,
  ],
  exports: [SecretRotationService],
})
export class WebhooksModule {}
