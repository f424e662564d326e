import { Module } from '@nestjs/common';
import { SecretRotationBroadcast } from './secret-rotation.broadcast.js';
import { SecretRotationService } from './secret-rotation.service.js';
import { TestWebhookService } from './test-webhook.service.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';
import { WebhooksController } from './webhooks.controller.js';

/** The requests about webhooks. */
@Module({
  controllers: [WebhooksController],
  providers: [WebhookDeliveriesService, TestWebhookService, SecretRotationBroadcast, SecretRotationService],
  exports: [SecretRotationService],
})
export class WebhooksModule {}
