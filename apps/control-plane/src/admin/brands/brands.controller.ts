import { Controller } from '@nestjs/common';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { AccountPageQuery } from '../crud/paging.js';
import { BrandChange, BrandDraft } from './brand.dto.js';
import { BrandResource } from './brand.resource.js';
import { BrandAnswer, BrandList } from './brand.view.js';

const BRAND = { resource: 'brands', id: 'Brand', one: 'a brand', many: 'brands' } as const;

@Controller('v1/admin/brands')
export class BrandsController extends CrudController(BrandResource, {
  list: Lists(BRAND, BrandList),
  create: Creates(BRAND, BrandAnswer, {
    description:
      'Omitted fields are null, rcsNumberMatching false, active true. Sessions can be created for it at once.',
    errors: ['CONFLICT'],
  }),
  get: Shows(BRAND, BrandAnswer),
  update: Updates(BRAND, BrandAnswer, {
    description: 'Existing sessions keep the values they were created with.',
    errors: ['CONFLICT'],
  }),
  query: AccountPageQuery,
  draft: BrandDraft,
  change: BrandChange,
}) {}
