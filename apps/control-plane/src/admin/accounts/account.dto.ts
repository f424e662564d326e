import { SESSION_EVENT_TYPES } from '@countersign/events';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString, Validate } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { IsWebhookTarget } from '../../targets/webhook-target.constraint.js';
import {
  ChangeOf,
  isCountryOrEvery,
  isLine,
  isListOf,
  isOneOf,
  isUsdOrNumber,
  isWholeNumber,
  Nullable,
  Optional,
  Satisfies,
} from '../crud/fields.js';
import { ACCOUNT_FIELDS, MAX_CODES } from './account.view.js';

const isCap = isWholeNumber(0, MAX_CODES);

/** A URL that webhooks of the account may go to, or null. */
export const WebhookUrl = (field: string): PropertyDecorator =>
  applyDecorators(
    Nullable(),
    IsString(failsWith(`${field} must be a string or null.`)),
    Validate(
      IsWebhookTarget,
      failsWith(
        `${field} must be a public https URL without user name, password or fragment, at a port for web servers, or null.`,
        {
          code: 'INVALID_WEBHOOK_URL',
        },
      ),
    ),
  );

/** The body of POST /v1/admin/accounts. */
export class AccountDraft {
  @ApiProperty(ACCOUNT_FIELDS.name)
  @Satisfies(isLine(100), 'name must be one line of 1 to 100 characters.')
  name!: string;

  @ApiPropertyOptional(ACCOUNT_FIELDS.defaultWebhookUrl)
  @WebhookUrl('defaultWebhookUrl')
  defaultWebhookUrl?: string | null;

  @ApiPropertyOptional(ACCOUNT_FIELDS.testWebhookUrl)
  @WebhookUrl('testWebhookUrl')
  testWebhookUrl?: string | null;

  @ApiPropertyOptional(ACCOUNT_FIELDS.webhookEvents)
  @Satisfies(
    isListOf(isOneOf(SESSION_EVENT_TYPES)),
    `webhookEvents must be a list of different events among ${SESSION_EVENT_TYPES.join(', ')}.`,
  )
  @Optional()
  webhookEvents?: readonly string[];

  @ApiPropertyOptional(ACCOUNT_FIELDS.otpCountries)
  @Satisfies(
    isListOf(isCountryOrEvery),
    'otpCountries must be a list of different ISO 3166-1 alpha-2 country codes (GB, not UK), or hold "*" for every country.',
  )
  @Optional()
  otpCountries?: readonly string[];

  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'number', minimum: 0 }, { type: 'null' }],
    description: 'Daily spend limit of codes (UTC), as a decimal text or a number; null for no cap.',
    example: '250.00',
  })
  @Satisfies(
    isUsdOrNumber,
    'otpDailySpendCapUsd must be an amount of US dollars of 0 or more with up to six decimals, such as "250.00", or null.',
  )
  @Nullable()
  otpDailySpendCapUsd?: string | number | null;

  @ApiPropertyOptional(ACCOUNT_FIELDS.otpDailyMessageCap)
  @Satisfies(isCap, `otpDailyMessageCap must be a whole number of 0 to ${MAX_CODES}.`)
  @Optional()
  otpDailyMessageCap?: number;

  @ApiPropertyOptional(ACCOUNT_FIELDS.otpUnconvertedFloor)
  @Satisfies(isCap, `otpUnconvertedFloor must be a whole number of 0 to ${MAX_CODES}.`)
  @Optional()
  otpUnconvertedFloor?: number;

  @ApiPropertyOptional(ACCOUNT_FIELDS.active)
  @IsBoolean(failsWith('active must be true or false.'))
  @Optional()
  active?: boolean;
}

/** The body of PATCH /v1/admin/accounts/{id}. */
export class AccountChange extends ChangeOf(AccountDraft) {}
