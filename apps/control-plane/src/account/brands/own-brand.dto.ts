import { PickType } from '@nestjs/swagger';
import { BrandDraft } from '../../admin/brands/brand.dto.js';
import { ChangeOf } from '../../admin/crud/fields.js';

/** The body of PATCH /v1/account/brands/{id}. */
export class OwnBrandChange extends ChangeOf(PickType(BrandDraft, ['name', 'slug', 'instruction', 'logoUrl'])) {}
