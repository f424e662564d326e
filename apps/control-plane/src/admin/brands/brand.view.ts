import type { Brand } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { PageOf } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { idField, nullable } from '../crud/view-fields.js';

export const BRAND_FIELDS = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 100,
    description: 'The name that end users read. Together with its code the SMS must fit one GSM-7 segment.',
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
        'The RCS agent that sends its cards, with or without `@rbm.goog`; null for no cards: its sessions use SMS at once.',
      example: 'acme_verify_x1y2_agent',
    },
  ),
  rcsNumberMatching: {
    type: 'boolean',
    description:
      'Whether its cards offer three numbers instead of Approve: only the `matchCode` of the create response approves, a wrong one denies.',
    example: false,
  },
  senderId: nullable(
    {},
    {
      description:
        'The sender of codes when a route has none: E.164, a short code of 3 to 8 digits, or up to 11 letters and digits.',
      example: 'ACME',
    },
  ),
  domain: nullable(
    {},
    {
      description: 'The host name of the site into which a phone may fill a code (web OTP).',
      example: 'login.acme.example',
    },
  ),
  active: { type: 'boolean', description: 'Whether sessions can be created for it.', example: true },
} as const satisfies Record<string, ApiPropertyOptions>;

/** The name and slug that an account requests for its brand. */
export class BrandRequest {
  @ApiProperty(nullable({}, { description: 'Null when the name stays.', example: 'Acme Bank' }))
  readonly name!: string | null;

  @ApiProperty(nullable({}, { description: 'Null when the slug stays.', example: null }))
  readonly slug!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was last changed.' })
  readonly at!: string;
}

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
    description: 'The version of the entropy key from which its `authEntropy` is derived. It never changes.',
    example: 1,
  })
  readonly entropyKeyVersion!: number;

  @ApiProperty(BRAND_FIELDS.active)
  readonly active!: boolean;

  @ApiPropertyOptional({
    type: BrandRequest,
    description: 'Present while the request waits for `approve` or `refuse`.',
  })
  readonly requested?: Plain<BrandRequest>;
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
    ...requestView(brand),
  };
}

export const requestView = ({ requestedName: name, requestedSlug: slug, requestedAt: at }: Brand) =>
  at === null ? {} : { requested: { name, slug, at: at.toISOString() } };
