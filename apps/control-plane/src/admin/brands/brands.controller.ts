import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Creates, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { AccountPageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { BrandChange, BrandDraft } from './brand.dto.js';
import { BrandResource } from './brand.resource.js';
import { BrandAnswer, BrandList } from './brand.view.js';

const BRAND = { resource: 'brands', id: 'Brand', one: 'a brand', many: 'brands' } as const;

@Controller('v1/admin/brands')
export class BrandsController {
  constructor(
    private readonly admin: AdminService,
    private readonly brands: BrandResource,
  ) {}

  @Lists(BRAND, BrandList)
  async list(@Query(QueryPipe) query: AccountPageQuery): Promise<Plain<BrandList>> {
    return valueOf(await this.admin.list(this.brands, query));
  }

  @Creates(BRAND, BrandAnswer, {
    description:
      'Omitted fields are null, rcsNumberMatching false, active true. Sessions can be created for it at once.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: BrandDraft): Promise<Plain<BrandAnswer>> {
    return valueOf(await this.admin.create(this.brands, by, (tx) => this.brands.create(tx, body)));
  }

  @Shows(BRAND, BrandAnswer)
  async find(@Param('id') id: string): Promise<Plain<BrandAnswer>> {
    return valueOf(await this.admin.find(this.brands, id));
  }

  @Updates(BRAND, BrandAnswer, {
    description: 'Existing sessions keep the values they were created with.',
    errors: ['CONFLICT'],
  })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: BrandChange,
  ): Promise<Plain<BrandAnswer>> {
    return valueOf(await this.admin.update(this.brands, by, id, (tx, row) => this.brands.update(tx, row, body)));
  }
}
