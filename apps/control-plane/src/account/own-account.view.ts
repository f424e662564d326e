import type { Account, ApiKeyPrincipal, KeyLimits, Scope } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ACCOUNT_FIELDS, accountView, withoutTokens } from '../admin/accounts/account.view.js';
import type { Plain } from '../admin/crud/plain.js';
import { idField } from '../admin/crud/view-fields.js';
import { KEY_FIELDS } from '../admin/keys/key.view.js';

/** The key of the request. */
export class OwnKey {
  @ApiProperty(idField('key'))
  readonly id!: string;

  @ApiProperty(KEY_FIELDS.kind)
  readonly kind!: 'live' | 'test';

  @ApiProperty(KEY_FIELDS.scopes)
  readonly scopes!: readonly Scope[];

  @ApiProperty(KEY_FIELDS.limits)
  readonly limits!: KeyLimits;
}

/** The account of a key, with the fields that only an operator changes. */
export class OwnAccountAnswer {
  @ApiProperty(idField('acct'))
  readonly id!: string;

  @ApiProperty(ACCOUNT_FIELDS.name)
  readonly name!: string;

  @ApiProperty(ACCOUNT_FIELDS.otpCountries)
  readonly otpCountries!: readonly string[];

  @ApiProperty(ACCOUNT_FIELDS.otpDailySpendCapUsd)
  readonly otpDailySpendCapUsd!: string | null;

  @ApiProperty(ACCOUNT_FIELDS.otpDailyMessageCap)
  readonly otpDailyMessageCap!: number;

  @ApiProperty(ACCOUNT_FIELDS.otpUnconvertedFloor)
  readonly otpUnconvertedFloor!: number;

  @ApiProperty({ type: OwnKey, description: 'The key of this request.' })
  readonly key!: Plain<OwnKey>;
}

/** Where the events of the account go. */
export class OwnWebhookAnswer {
  @ApiPropertyOptional({
    ...ACCOUNT_FIELDS.defaultWebhookUrl,
    description: 'Receives events of live sessions without a webhook of their own. Absent for test keys.',
  })
  readonly defaultWebhookUrl?: string | null;

  @ApiPropertyOptional(ACCOUNT_FIELDS.defaultWebhookDisabledAt)
  readonly defaultWebhookDisabledAt?: string;

  @ApiPropertyOptional(ACCOUNT_FIELDS.defaultWebhookDisabledReason)
  readonly defaultWebhookDisabledReason?: string;

  @ApiProperty(ACCOUNT_FIELDS.testWebhookUrl)
  readonly testWebhookUrl!: string | null;

  @ApiProperty(ACCOUNT_FIELDS.webhookEvents)
  readonly webhookEvents!: readonly string[];
}

export function ownAccountView(
  account: Account,
  { keyId, kind, scopes, limits }: ApiKeyPrincipal,
): Plain<OwnAccountAnswer> {
  const { id, name, otpCountries, otpDailySpendCapUsd, otpDailyMessageCap, otpUnconvertedFloor } = accountView(account);
  const caps = { otpCountries, otpDailySpendCapUsd, otpDailyMessageCap, otpUnconvertedFloor };
  return { id, name, ...caps, key: { id: renderId('key', keyId), kind, scopes, limits } };
}

/**
 * A test key sees nothing that concerns live sessions alone, and a reader who may not see people's data no value of a query: it may
 * be a token.
 */
export function ownWebhookView(
  account: Account,
  { kind }: Pick<ApiKeyPrincipal, 'kind'>,
  seesPeople: boolean,
): Plain<OwnWebhookAnswer> {
  const shown = seesPeople ? accountView(account) : withoutTokens(accountView(account));
  const { defaultWebhookUrl, defaultWebhookDisabledAt, defaultWebhookDisabledReason, ...rest } = shown;
  const { testWebhookUrl, webhookEvents } = rest;
  if (kind === 'test') return { testWebhookUrl, webhookEvents };
  return {
    defaultWebhookUrl,
    ...(defaultWebhookDisabledAt === undefined ? {} : { defaultWebhookDisabledAt }),
    ...(defaultWebhookDisabledReason === undefined ? {} : { defaultWebhookDisabledReason }),
    ...{ testWebhookUrl, webhookEvents },
  };
}
