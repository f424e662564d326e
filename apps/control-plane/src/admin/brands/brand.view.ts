import type { Brand } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

export const BRAND_FIELDS = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    description: 'What end users read. With its code the SMS must fit one GSM-7 segment.',
    example: 'Acme',
  },
  slug: {
    type: 'string',
    pattern: '^[A-Z0-9]{2,12}$',
    description: 'The brand’s part of the token `AUTH-<SLUG>-<token>`. Unique.',
    example: 'ACME',
  },
  instruction: {
    type: 'string',
    minLength: 1,
    description: 'The line under the token. The whole text that phones send must fit one GSM-7 segment.',
    example: 'Send this message to sign in to Acme.',
  },
  logoUrl: nullable(
    { format: 'uri', maxLength: 2048 },
    { description: 'Public https.', example: 'https://acme.example/logo.png' },
  ),
  rcsAgentId: nullable(
    {},
    {
      description:
        'The RCS agent that sends its cards, with or without `@rbm.goog`; null for no cards: its sessions go by SMS at once.',
      example: 'acme_verify_x1y2_agent',
    },
  ),
  rcsNumberMatching: {
    type: 'boolean',
    description:
      'Whether its cards offer three numbers in place of Approve: only the one that create answers as `matchCode` approves, a wrong one denies.',
    example: false,
  },
  senderId: nullable(
    {},
    {
      description:
        'The sender of codes where a route names none: E.164, a short code of 3 to 8 digits, or up to 11 letters and digits.',
      example: 'ACME',
    },
  ),
  domain: nullable(
    {},
    {
      description: 'The site that a phone may fill a code into (web OTP): a host name.',
      example: 'login.acme.example',
    },
  ),
  active: { type: 'boolean', description: 'When false no session can be made for it.', example: true },
} as const satisfies Record<string, ApiPropertyOptions>;

export class BrandAnswer {
  @ApiProperty(idField('brd'))
  readonly id!: string;

  @ApiProperty(idField('acct'))
  readonly accountId!: string;

  @ApiProperty(BRAND_FIELDS.name)
  readonly name!: string;

  @ApiProperty(BRAND_FIELDS.slug)
  readonly slug!: string;

  @ApiProperty(BRAND_FIELDS.instruction)
  readonly instruction!: string;

  @ApiProperty(BRAND_FIELDS.logoUrl)
  readonly logoUrl!: string | null;

  @ApiProperty(BRAND_FIELDS.rcsAgentId)
  readonly rcsAgentId!: string | null;

  @ApiProperty(BRAND_FIELDS.rcsNumberMatching)
  readonly rcsNumberMatching!: boolean;

  @ApiProperty(BRAND_FIELDS.senderId)
  readonly senderId!: string | null;

  @ApiProperty(BRAND_FIELDS.domain)
  readonly domain!: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'The entropy key it was made with, which makes its `authEntropy` what it is. It never changes.',
    example: 1,
  })
  readonly entropyKeyVersion!: number;

  @ApiProperty(BRAND_FIELDS.active)
  readonly active!: boolean;
}

export class BrandList extends PageOf(BrandAnswer) {}

export function brandView(brand: Brand): Plain<BrandAnswer> {
  return {
    id: renderId('brd', brand.id),
    accountId: renderId('acct', brand.accountId),
    name: brand.name,
    slug: brand.slug,
    instruction: brand.instruction,
    logoUrl: brand.logoUrl,
    rcsAgentId: brand.rcsAgentId,
    rcsNumberMatching: brand.rcsNumberMatching,
    senderId: brand.senderId,
    domain: brand.domain,
    entropyKeyVersion: brand.entropyKeyVersion,
    active: brand.active,
  };
}
