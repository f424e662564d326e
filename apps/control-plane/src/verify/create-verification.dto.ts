import { IsBoolean, IsIn, IsInt, IsString, Matches, Max, Min, Validate, ValidateIf } from 'class-validator';
import { failsWith } from '../http/compiled-validator.js';
import type { JsonObject } from '../http/json-body.js';
import { IsMetadata, metadataFault } from './metadata.constraint.js';
import { IsRoutablePhone } from './phone.constraint.js';
import { IsWebhookTarget } from './webhook-target.constraint.js';

const MIN_TTL_SECONDS = 30;
const MAX_TTL_SECONDS = 300;
const DEFAULT_TTL_SECONDS = 90;

const TTL = failsWith(`ttl must be a whole number of seconds from ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`);
const METADATA = failsWith(
  'metadata must be an object of at most 16 string values: keys of 1 to 64 characters, values of at most 512.',
  { within: (value) => metadataFault(value)?.within },
);
const CHALLENGE = failsWith('clientChallenge must be a SHA-256 hash as 64 hexadecimal digits.');

/**
 * The body of POST /v1/verify (specification 4.1). Fields stand in the specification's order, which is the order in
 * which they are checked; of one field's decorators the lowest is checked first.
 */
export class CreateVerification {
  @IsRoutablePhone(failsWith('phone must be a routable number in E.164 format.', { code: 'INVALID_PHONE' }))
  @IsString(failsWith('phone must be a string.'))
  phone!: string;

  @IsString(failsWith('accountId must be a string.'))
  accountId!: string;

  @IsString(failsWith('brandId must be a string.'))
  brandId!: string;

  @Matches(/^[0-9a-fA-F]{64}$/, CHALLENGE)
  @IsString(CHALLENGE)
  clientChallenge!: string;

  @Validate(
    IsWebhookTarget,
    failsWith('webhookUrl must be a public https URL without user name, password or fragment.', {
      code: 'INVALID_WEBHOOK_URL',
    }),
  )
  @IsString(failsWith('webhookUrl must be a string.'))
  @ValidateIf((_body, value) => value !== undefined)
  webhookUrl?: string;

  @Max(MAX_TTL_SECONDS, TTL)
  @Min(MIN_TTL_SECONDS, TTL)
  @IsInt(TTL)
  ttl: number = DEFAULT_TTL_SECONDS;

  @IsIn(['rcs', 'sms_fallback'], failsWith('channel must be rcs or sms_fallback.'))
  channel: 'rcs' | 'sms_fallback' = 'rcs';

  @IsBoolean(failsWith('allowSmsOtp must be true or false.'))
  allowSmsOtp: boolean = true;

  @IsMetadata(METADATA)
  metadata: JsonObject = new Map();
}
