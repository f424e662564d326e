import { Body, Controller, Param, Query } from '@nestjs/common';
import { BodyPipe, NoBodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { QueryPipe } from '../../http/query.pipe.js';
import { AdminService } from '../crud/admin.service.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import { PageQuery } from '../crud/paging.js';
import type { Plain } from '../crud/plain.js';
import { PriceChange, PriceDraft } from './price.dto.js';
import { PriceResource } from './price.resource.js';
import { PriceAnswer, PriceList } from './price.view.js';

const PRICE = { resource: 'prices', id: 'Price', one: 'a price', many: 'prices' } as const;
const PAST = 'Past usage keeps its price.';

@Controller('v1/admin/prices')
export class PricesController {
  constructor(
    private readonly admin: AdminService,
    private readonly prices: PriceResource,
  ) {}

  @Lists(PRICE, PriceList)
  async list(@Query(QueryPipe) query: PageQuery): Promise<Plain<PriceList>> {
    return valueOf(await this.admin.list(this.prices, query));
  }

  @Creates(PRICE, PriceAnswer, {
    description:
      'Without from the price holds from now on; hours of usage that are already aggregated keep their cost.',
    errors: ['CONFLICT'],
  })
  async create(@ByEngineer() by: Engineer, @Body(BodyPipe) body: PriceDraft): Promise<Plain<PriceAnswer>> {
    return valueOf(await this.admin.create(this.prices, by, (tx) => this.prices.create(tx, body)));
  }

  @Shows(PRICE, PriceAnswer)
  async find(@Param('id') id: string): Promise<Plain<PriceAnswer>> {
    return valueOf(await this.admin.find(this.prices, id));
  }

  @Updates(PRICE, PriceAnswer, { description: PAST, errors: ['CONFLICT'] })
  async update(
    @ByEngineer() by: Engineer,
    @Param('id') id: string,
    @Body(BodyPipe) body: PriceChange,
  ): Promise<Plain<PriceAnswer>> {
    return valueOf(await this.admin.update(this.prices, by, id, (tx, row) => this.prices.update(tx, row, body)));
  }

  @Deletes(PRICE, {
    description: `${PAST} The last price of codes for every country cannot be deleted while an account has a spend cap.`,
    errors: ['CONFLICT'],
  })
  async remove(@ByEngineer() by: Engineer, @Param('id') id: string, @Body(NoBodyPipe) _nothing: null): Promise<void> {
    valueOf(await this.admin.remove(this.prices, by, id, (tx, row) => this.prices.delete(tx, row)));
  }
}
