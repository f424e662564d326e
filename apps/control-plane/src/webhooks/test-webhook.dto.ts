import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Validate, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';

/** The optional body of POST /v1/webhooks/test. */
export class TestWebhook {
  @ApiPropertyOptional({
    format: 'uri',
    maxLength: 2048,
    description: 'Public https. The account’s default URL when left out.',
    example: 'https://acme.example/webhooks',
  })
  @Validate(
    IsWebhookTarget,
    failsWith('url must be a public https URL without user name, password or fragment, at a port for web servers.', {
      code: 'INVALID_WEBHOOK_URL',
    }),
  )
  @IsString(failsWith('url must be a string.'))
  @ValidateIf((_body, value) => value !== undefined)
  url?: string;
}
