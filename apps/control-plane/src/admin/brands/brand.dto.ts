import { DOMAIN, RCS_AGENT_ID, SENDER_ID, SLUG } from '@countersign/accounts/accounts';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import { failsWith } from '../../http/compiled-validator.js';
import { TargetRules } from '../../targets/target.js';
import { ChangeOf, isLine, isText, Nullable, Optional, Satisfies } from '../crud/fields.js';
import { idField } from '../crud/view-fields.js';
import { BRAND_FIELDS } from './brand.view.js';

/** Phones and RCS carriers fetch the logo from the public Internet, so the operator's webhook settings do not apply. */
const PUBLIC_HTTPS = new TargetRules({ allowedCidrs: [], allowHttp: false });

/** The body of POST /v1/admin/brands. The resource then checks that the texts of the whole brand fit one SMS. */
export class BrandDraft {
  @ApiProperty(idField('acct'))
  @IsString(failsWith('accountId must be a string.'))
  accountId!: string;

  @ApiProperty(BRAND_FIELDS.name)
  @Satisfies(isLine(100), 'name must be one line of 1 to 100 characters.')
  name!: string;

  @ApiProperty(BRAND_FIELDS.slug)
  @Satisfies(isText(SLUG), 'slug must be 2 to 12 characters of A-Z and 0-9.')
  slug!: string;

  @ApiProperty(BRAND_FIELDS.instruction)
  @Satisfies(isLine(160), 'instruction must be one line of 1 to 160 characters.')
  instruction!: string;

  @ApiPropertyOptional(BRAND_FIELDS.logoUrl)
  @Satisfies(
    (value) => typeof value === 'string' && PUBLIC_HTTPS.check(value).ok,
    'logoUrl must be a public https URL without user name, password or fragment, or null.',
  )
  @Nullable()
  logoUrl?: string | null;

  @ApiPropertyOptional(BRAND_FIELDS.rcsAgentId)
  @Satisfies(isText(RCS_AGENT_ID), 'rcsAgentId must be the id of an RBM agent, or null.')
  @Nullable()
  rcsAgentId?: string | null;

  @ApiPropertyOptional(BRAND_FIELDS.rcsNumberMatching)
  @IsBoolean(failsWith('rcsNumberMatching must be true or false.'))
  @Optional()
  rcsNumberMatching?: boolean;

  @ApiPropertyOptional(BRAND_FIELDS.senderId)
  @Satisfies(
    isText(SENDER_ID),
    'senderId must be a number in E.164 format, a short code of 3 to 8 digits, up to 11 letters and digits with a letter among them, or null.',
  )
  @Nullable()
  senderId?: string | null;

  @ApiPropertyOptional(BRAND_FIELDS.domain)
  @Satisfies(isText(DOMAIN), 'domain must be a host name such as login.acme.example, without https://, or null.')
  @Nullable()
  domain?: string | null;

  @ApiPropertyOptional(BRAND_FIELDS.active)
  @IsBoolean(failsWith('active must be true or false.'))
  @Optional()
  active?: boolean;
}

/** The body of POST /v1/admin/brands/{id}/approve; it may be omitted. */
export class BrandApproval {
  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: '`requested.at` as you have seen it: `CONFLICT` if the account has changed its request since.',
  })
  @Satisfies((value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)), 'requestedAt must be a time.')
  @Optional()
  requestedAt?: string;
}

/** The body of PATCH /v1/admin/brands/{id}. */
export class BrandChange extends ChangeOf(OmitType(BrandDraft, ['accountId'])) {}
