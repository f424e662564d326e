import { PRICES, PriceStore, type Price } from '@countersign/accounts';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome } from '../../http/errors.js';
import { parseInstant } from '../../http/instant.js';
import type { AdminResource, Written } from '../admin-resource.js';
import type { Plain } from '../plain.js';
import type { PriceChange, PriceDraft } from './price.dto.js';
import { type PriceAnswer, priceView } from './price.view.js';

type Answer = Plain<PriceAnswer>;
type Reply = Promise<Outcome<Written<Price, Answer>>>;

@Injectable()
export class PriceResource implements AdminResource<Price, Answer> {
  readonly name = 'prices';
  readonly noun = 'price';
  readonly idPrefix = 'price';
  readonly table = PRICES;
  readonly view = priceView;
  readonly refusals = {
    prices_channel_country_from_at_key: {
      code: 'CONFLICT',
      field: 'from',
      message: 'There is another price of this channel and country from this time on: change that one.',
    },
  } as const;

  constructor(private readonly prices: PriceStore) {}

  async create(tx: Executor, { channel, country, usd, from }: PriceDraft): Reply {
    return succeed({ row: await this.prices.create(tx, { channel, country, usd, ...instantOf(from) }) });
  }

  async update(tx: Executor, price: Price, { usd = price.usd, from }: PriceChange): Reply {
    return succeed({ row: await this.prices.update(tx, { ...price, usd, ...instantOf(from) }) });
  }

  delete(tx: Executor, { id }: Price): Promise<boolean> {
    return this.prices.delete(tx, id);
  }
}

function instantOf(from: string | undefined): { readonly from?: Date } {
  const instant = from === undefined ? null : parseInstant(from);
  return instant === null ? {} : { from: instant };
}
