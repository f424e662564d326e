import { CodePrices, PriceStore, type Price } from '@countersign/accounts/prices';
import { PRICES } from '@countersign/accounts/records';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed, type Refusal } from '../../http/errors.js';
import { parseInstant } from '../../http/instant.js';
import type { CrudResource, Reply } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import type { PriceChange, PriceDraft } from './price.dto.js';
import { type PriceAnswer, priceView } from './price.view.js';

type Answer = Plain<PriceAnswer>;

@Injectable()
export class PriceResource implements CrudResource<Price, Answer, PriceDraft, PriceChange> {
  readonly name = 'prices';
  readonly noun = 'price';
  readonly idPrefix = 'price';
  readonly table = PRICES;
  readonly view = priceView;
  readonly refusals = {
    prices_channel_country_from_at_key: {
      code: 'CONFLICT',
      field: 'from',
      message: 'There is another price of this channel and country with this start: change that one.',
    },
  } as const;

  constructor(
    private readonly prices: PriceStore,
    private readonly codePrices: CodePrices,
  ) {}

  async create(tx: Executor, { channel, country, usd, from }: PriceDraft): Reply<Price, Answer> {
    return succeed({ row: await this.prices.create(tx, { channel, country, usd, ...instantOf(from) }) });
  }

  async update(tx: Executor, price: Price, { usd = price.usd, from }: PriceChange): Reply<Price, Answer> {
    const change = { ...price, usd, ...instantOf(from) };
    if (change.from > price.from && (await this.codePrices.isLastUnderCap(tx, price.id, change.from))) {
      return refuse('CONFLICT', { ...LAST_UNDER_CAP, field: 'from' });
    }
    return succeed({ row: await this.prices.update(tx, change) });
  }

  /** The last price of codes for every country cannot be deleted while an account has a spend cap. */
  async mayRemove(tx: Executor, { id }: Price): Promise<Refusal | null> {
    return (await this.codePrices.isLastUnderCap(tx, id, null)) ? LAST_UNDER_CAP : null;
  }

  delete(tx: Executor, { id }: Price): Promise<boolean> {
    return this.prices.delete(tx, id);
  }
}

const LAST_UNDER_CAP = {
  code: 'CONFLICT',
  message:
    'An account has a daily spend cap, and this is the last price of sms_otp for "*" in force: its codes would be refused. Create another price first, or remove the cap.',
} as const satisfies Refusal;

function instantOf(from: string | undefined): { readonly from?: Date } {
  const instant = from === undefined ? null : parseInstant(from);
  return instant === null ? {} : { from: instant };
}
