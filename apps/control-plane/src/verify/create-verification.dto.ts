import { LONGEST_SESSION_MS } from '@countersign/session/rules';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsString, Matches, Max, Min, Validate, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import type { JsonObject } from '../http/json-body.js';
import { IsMetadata, metadataFault } from './metadata.constraint.js';
import { IsRoutablePhone } from './phone.constraint.js';
import { IsWebhookTarget } from '../targets/webhook-target.constraint.js';

const MIN_TTL_SECONDS = 30;
const MAX_TTL_SECONDS = LONGEST_SESSION_MS / 1000;
const DEFAULT_TTL_SECONDS = 90;

const TTL = failsWith(`ttl must be a whole number of seconds from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`);
const METADATA = failsWith(
  'metadata must be an object of at most 16 string values: keys of 1 to 64 characters, values of at most 512.',
  { within: (value) => metadataFault(value)?.within },
);
const CHALLENGE = failsWith('clientChallenge must be a SHA-256 hash as 64 hexadecimal digits.');

/**
 * The body of POST /v1/verify (specification 4.1). Fields are in the specification's order, which is the order in
 * which they are checked; of one field's decorators the lowest is checked first.
 */
export class CreateVerification {
  @ApiProperty({
    pattern: '^\\+[1-9][0-9]{1,14}$',
    description: 'E.164, a number that can exist. A test key also accepts the magic test numbers.',
    example: '+14155552671',
  })
  @IsRoutablePhone(failsWith('phone must be a routable number in E.164 format.', { code: 'INVALID_PHONE' }))
  @IsString(failsWith('phone must be a string.'))
  phone!: string;

  @ApiProperty({ description: 'The account of the API key.', example: 'acct_01HF7YAT000000000000000002' })
  @IsString(failsWith('accountId must be a string.'))
  accountId!: string;

  @ApiProperty({ description: 'An active brand of the account.', example: 'brd_01HF7YAT000000000000000003' })
  @IsString(failsWith('brandId must be a string.'))
  brandId!: string;

  @ApiProperty({
    pattern: '^[0-9A-Fa-f]{64}$',
    description: 'SHA-256, in hexadecimal, of a secret that only the user’s browser has (specification 4.7).',
    example: 'ab'.repeat(32),
  })
  @Matches(/^[0-9a-fA-F]{64}$/, CHALLENGE)
  @IsString(CHALLENGE)
  clientChallenge!: string;

  @ApiPropertyOptional({
    format: 'uri',
    maxLength: 2048,
    description: 'Public https; receives the webhooks of this session in place of the account’s default URL.',
    example: 'https://example.com/hooks/verification',
  })
  @Validate(
    IsWebhookTarget,
    failsWith(
      'webhookUrl must be a public https URL without user name, password or fragment, at a port for web servers.',
      {
        code: 'INVALID_WEBHOOK_URL',
      },
    ),
  )
  @IsString(failsWith('webhookUrl must be a string.'))
  @ValidateIf((_body, value) => value !== undefined)
  webhookUrl?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: MIN_TTL_SECONDS,
    maximum: MAX_TTL_SECONDS,
    default: DEFAULT_TTL_SECONDS,
    description: 'Seconds until the session expires.',
  })
  @Max(MAX_TTL_SECONDS, TTL)
  @Min(MIN_TTL_SECONDS, TTL)
  @IsInt(TTL)
  ttl: number = DEFAULT_TTL_SECONDS;

  @ApiPropertyOptional({
    enum: ['rcs', 'sms_fallback'],
    default: 'rcs',
    description: '`rcs` prefers a rich card, `sms_fallback` uses SMS at once.',
  })
  @IsIn(['rcs', 'sms_fallback'], failsWith('channel must be rcs or sms_fallback.'))
  channel: 'rcs' | 'sms_fallback' = 'rcs';

  @ApiPropertyOptional({ default: true, description: 'False disables `send-sms` and `check` for this session.' })
  @IsBoolean(failsWith('allowSmsOtp must be true or false.'))
  allowSmsOtp: boolean = true;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 512 },
    maxProperties: 16,
    description: 'Echoed verbatim; keys of 1 to 64 characters.',
    example: { orderId: '7' },
  })
  @IsMetadata(METADATA)
  metadata: JsonObject = new Map();
}
