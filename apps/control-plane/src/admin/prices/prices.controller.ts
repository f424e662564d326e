import { Controller } from '@nestjs/common';
import { CrudController } from '../crud/crud.controller.js';
import { Creates, Deletes, Lists, Shows, Updates } from '../crud/admin-operations.js';
import { PriceChange, PriceDraft } from './price.dto.js';
import { PriceResource } from './price.resource.js';
import { PriceAnswer, PriceList } from './price.view.js';

const PRICE = { resource: 'prices', id: 'Price', one: 'a price', many: 'prices' } as const;
const PAST = 'Past usage keeps its price.';

@Controller('v1/admin/prices')
export class PricesController extends CrudController(PriceResource, {
  list: Lists(PRICE, PriceList),
  create: Creates(PRICE, PriceAnswer, {
    description:
      'Without from the price holds from now on; hours of usage that are already aggregated keep their cost.',
    errors: ['CONFLICT'],
  }),
  get: Shows(PRICE, PriceAnswer),
  update: Updates(PRICE, PriceAnswer, { description: PAST, errors: ['CONFLICT'] }),
  delete: Deletes(PRICE, {
    description: `${PAST} The last price of codes for every country cannot be deleted while an account has a spend cap.`,
    errors: ['CONFLICT'],
  }),
  draft: PriceDraft,
  change: PriceChange,
}) {}
