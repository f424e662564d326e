import type { Brand } from '@countersign/accounts/accounts';
import { renderId } from '@countersign/ids';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { BRAND_FIELDS, BrandRequest, requestView } from '../../admin/brands/brand.view.js';
import { PageOf } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { idField } from '../../admin/crud/view-fields.js';

export class OwnBrandAnswer {
  @ApiProperty(idField('brd'))
  readonly id!: string;

  @ApiProperty(BRAND_FIELDS.name)
  readonly name!: string;

  @ApiProperty(BRAND_FIELDS.slug)
  readonly slug!: string;

  @ApiProperty(BRAND_FIELDS.instruction)
  readonly instruction!: string;

  @ApiProperty(BRAND_FIELDS.logoUrl)
  readonly logoUrl!: string | null;

  @ApiProperty(BRAND_FIELDS.domain)
  readonly domain!: string | null;

  @ApiProperty(BRAND_FIELDS.active)
  readonly active!: boolean;

  @ApiPropertyOptional({ type: BrandRequest, description: 'Present while it waits for an operator’s approval.' })
  readonly requested?: Plain<BrandRequest>;

  @ApiPropertyOptional({
    type: 'string',
    format: 'date-time',
    description: 'Present after the last request was refused.',
  })
  readonly requestRefusedAt?: string;
}

export class OwnBrandList extends PageOf(OwnBrandAnswer) {}

export function ownBrandView(brand: Brand): Plain<OwnBrandAnswer> {
  const { id, name, slug, instruction, logoUrl, domain, active, requestRefusedAt: refusedAt } = brand;
  return {
    id: renderId('brd', id),
    ...{ name, slug, instruction, logoUrl, domain, active },
    ...requestView(brand),
    ...(refusedAt === null ? {} : { requestRefusedAt: refusedAt.toISOString() }),
  };
}
