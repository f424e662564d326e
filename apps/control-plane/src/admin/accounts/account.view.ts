import type { Account } from '@countersign/accounts/accounts';
import { renderUsd } from '@countersign/accounts/prices';
import { SESSION_EVENT_TYPES } from '@countersign/events';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import { maskText, maskUrlsIn } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable, USD_PATTERN } from '../crud/view-fields.js';

/** The largest cap or floor of codes. */
export const MAX_CODES = 1_000_000_000;

export const ACCOUNT_FIELDS = {
  name: { type: 'string', minLength: 1, maxLength: 100, example: 'Acme Inc.' },
  defaultWebhookUrl: nullable(
    { format: 'uri', maxLength: 2048 },
    {
      description:
        'Receives events of live sessions without a webhook of their own. Public https. For roles that may not see people’s data the values of its query are `***`.',
      example: 'https://acme.example/webhooks',
    },
  ),
  testWebhookUrl: nullable(
    { format: 'uri', maxLength: 2048 },
    {
      description:
        'Receives events of test sessions without a webhook of their own, signed with the test secret. Public https. Test events never go to `defaultWebhookUrl`.',
      example: 'https://staging.acme.example/webhooks',
    },
  ),
  webhookEvents: {
    type: 'array',
    items: { type: 'string', enum: [...SESSION_EVENT_TYPES] },
    description: 'The events that the account receives. `verification.completed` is always included.',
    example: ['verification.expired'],
  },
  otpCountries: {
    type: 'array',
    items: { type: 'string', pattern: '^(\\*|[A-Z]{2})$' },
    description:
      'ISO 3166-1 alpha-2 of the countries that codes are sent to; `*` for all. A new account has `["*"]` in development and none in production.',
    example: ['US', 'CA'],
  },
  otpDailySpendCapUsd: nullable(
    { pattern: USD_PATTERN },
    {
      description:
        'Daily spend limit of codes (UTC); null for no cap. A cap needs a price of `sms_otp` for `*` in force: a code without a price cannot be counted.',
      example: '250.00',
    },
  ),
  otpDailyMessageCap: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_CODES,
    description: 'Daily limit of codes (UTC). Default 1,000.',
    example: 1_000,
  },
  otpUnconvertedFloor: {
    type: 'integer',
    minimum: 0,
    maximum: MAX_CODES,
    description:
      'Codes in an hour that may stay unconverted before approvals earn credits; half of it in one country. Default 50.',
    example: 50,
  },
  defaultWebhookDisabledAt: {
    type: 'string',
    format: 'date-time',
    description:
      'When the default URL was disabled because every attempt of five days failed; otherwise absent. Setting `defaultWebhookUrl`, even to the same URL, enables it again.',
    example: '2023-11-14T22:13:20.007Z',
  },
  defaultWebhookDisabledReason: { type: 'string', description: 'The reason, for people. Only while it is disabled.' },
  active: { type: 'boolean', description: 'When false its keys are refused, within 5 s.', example: true },
} as const satisfies Record<string, ApiPropertyOptions>;

export class AccountAnswer {
  @ApiProperty(idField('acct'))
  readonly id!: string;

  @ApiProperty(ACCOUNT_FIELDS.name)
  readonly name!: string;

  @ApiProperty(ACCOUNT_FIELDS.defaultWebhookUrl)
  readonly defaultWebhookUrl!: string | null;

  @ApiProperty(ACCOUNT_FIELDS.testWebhookUrl)
  readonly testWebhookUrl!: string | null;

  @ApiPropertyOptional(ACCOUNT_FIELDS.defaultWebhookDisabledAt)
  readonly defaultWebhookDisabledAt?: string;

  @ApiPropertyOptional(ACCOUNT_FIELDS.defaultWebhookDisabledReason)
  readonly defaultWebhookDisabledReason?: string;

  @ApiProperty(ACCOUNT_FIELDS.webhookEvents)
  readonly webhookEvents!: readonly string[];

  @ApiProperty(ACCOUNT_FIELDS.otpCountries)
  readonly otpCountries!: readonly string[];

  @ApiProperty(ACCOUNT_FIELDS.otpDailySpendCapUsd)
  readonly otpDailySpendCapUsd!: string | null;

  @ApiProperty(ACCOUNT_FIELDS.otpDailyMessageCap)
  readonly otpDailyMessageCap!: number;

  @ApiProperty(ACCOUNT_FIELDS.otpUnconvertedFloor)
  readonly otpUnconvertedFloor!: number;

  @ApiProperty(ACCOUNT_FIELDS.active)
  readonly active!: boolean;

  @ApiPropertyOptional({
    type: 'string',
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    description: 'Signs webhooks of live sessions. Shown once, when the account is created.',
  })
  readonly webhookSecret?: string;

  @ApiPropertyOptional({
    type: 'string',
    pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
    description:
      'Signs webhooks of test sessions. Shown once, when the account is created; rotation with a test key returns another.',
  })
  readonly testWebhookSecret?: string;
}

export class AccountList extends PageOf(AccountAnswer) {}

export function accountView(account: Account): Plain<AccountAnswer> {
  const { id, name, defaultWebhookUrl, testWebhookUrl, webhookEvents, otpCountries, otpDailySpendCapUsd } = account;
  const { defaultWebhookDisabledAt: disabledAt, defaultWebhookDisabledReason: reason } = account;
  return {
    id: renderId('acct', id),
    name,
    defaultWebhookUrl,
    testWebhookUrl,
    ...(disabledAt === null
      ? {}
      : { defaultWebhookDisabledAt: disabledAt.toISOString(), defaultWebhookDisabledReason: reason ?? '' }),
    webhookEvents,
    otpCountries,
    otpDailySpendCapUsd: otpDailySpendCapUsd === null ? null : renderUsd(otpDailySpendCapUsd),
    otpDailyMessageCap: account.otpDailyMessageCap,
    otpUnconvertedFloor: account.otpUnconvertedFloor,
    active: account.active,
  };
}

/** The account without tokens and people's data: the query values of its URLs, and its reason, are masked. */
export function withoutTokens(account: Plain<AccountAnswer>): Plain<AccountAnswer> {
  const { defaultWebhookUrl, testWebhookUrl, defaultWebhookDisabledReason: reason } = account;
  const masked = (url: string | null): string | null => (url === null ? null : maskUrlsIn(url));
  return {
    ...account,
    defaultWebhookUrl: masked(defaultWebhookUrl),
    testWebhookUrl: masked(testWebhookUrl),
    ...(reason === undefined ? {} : { defaultWebhookDisabledReason: maskText(reason) }),
  };
}
