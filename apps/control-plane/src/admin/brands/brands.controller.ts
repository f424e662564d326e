import { Body, Controller, Param } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { NoBodyPipe, OptionalBodyPipe } from '../../http/body.pipe.js';
import { CrudController } from '../crud/crud.controller.js';
import { Acts, Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { BrandApproval, BrandChange, BrandDraft } from './brand.dto.js';
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
}) {
  @Acts(BRAND, { name: 'approve', summary: 'Approve the requested name and slug of' }, BrandAnswer, {
    description:
      'Gives the brand the name and slug in `requested`. Send its `at` as `requestedAt`, so that you approve what you have seen. Existing sessions keep the values they were created with.',
    errors: ['CONFLICT'],
  })
  @ApiBody({ type: BrandApproval, required: false })
  approve(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(OptionalBodyPipe) { requestedAt }: BrandApproval,
  ): Promise<Plain<BrandAnswer>> {
    return this.act(by, id, 'approve', (tx, row) => this.resource.approve(tx, row, requestedAt));
  }

  @Acts(BRAND, { name: 'refuse', summary: 'Refuse the requested name and slug of' }, BrandAnswer, {
    description: 'The brand stays as it is. The account sees when its request was refused.',
    errors: ['CONFLICT'],
  })
  refuse(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(NoBodyPipe) _nothing: null,
  ): Promise<Plain<BrandAnswer>> {
    return this.act(by, id, 'refuse', (tx, row) => this.resource.refuse(tx, row));
  }
}
