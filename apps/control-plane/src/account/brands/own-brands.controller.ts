import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { PageQuery, type PageAnswer } from '../../admin/crud/paging.js';
import type { Plain } from '../../admin/crud/plain.js';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { ByDeveloper, type Developer } from '../../http/developer.decorator.js';
import { AccountCall } from '../account-call.js';
import { OwnBrandChange } from './own-brand.dto.js';
import { OwnBrandAnswer, OwnBrandList } from './own-brand.view.js';
import { OwnBrandsService } from './own-brands.service.js';

@Controller('v1/account/brands')
export class OwnBrandsController {
  constructor(private readonly brands: OwnBrandsService) {}

  @Get()
  @AccountCall({ id: 'listAccountBrands', summary: 'List the brands of the account', type: OwnBrandList, isPage: true })
  async list(
    @ByDeveloper() by: Developer,
    @Query(QueryPipe) query: PageQuery,
  ): Promise<PageAnswer<Plain<OwnBrandAnswer>>> {
    return valueOf(await this.brands.list(by, query));
  }

  @Get(':id')
  @AccountCall({ id: 'getAccountBrand', summary: 'Show a brand', type: OwnBrandAnswer, errors: ['NOT_FOUND'] })
  async find(@ByDeveloper() by: Developer, @Param('id') id: string): Promise<Plain<OwnBrandAnswer>> {
    return valueOf(await this.brands.find(by, id));
  }

  @Patch(':id')
  @AccountCall({
    id: 'updateAccountBrand',
    summary: 'Change the texts of a brand',
    description:
      'Omitted fields are unchanged. `instruction` and `logoUrl` take effect everywhere within 5 s. A new `name` or `slug` is stored in `requested` until an operator approves or refuses it; the present one withdraws the request. Existing sessions keep the values they were created with. Not with a test key.',
    body: 'json',
    confirmedWith: [],
    type: OwnBrandAnswer,
    errors: ['NOT_FOUND'],
  })
  async change(
    @ByDeveloper() by: Developer,
    @Param('id') id: string,
    @Body(BodyPipe) body: OwnBrandChange,
  ): Promise<Plain<OwnBrandAnswer>> {
    return valueOf(await this.brands.change(by, id, body));
  }
}
