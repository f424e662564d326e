import { CarrierStore, type InboundNumber } from '@countersign/carriers/config';
import { INBOUND_NUMBERS } from '@countersign/carriers/records';
import { parseId, type Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { succeed, type Outcome, type Refusal } from '../../http/errors.js';
import type { AdminResource, Written } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import type { InboundNumberChange, InboundNumberDraft } from './inbound-number.dto.js';
import { type InboundNumberAnswer, inboundNumberView } from './inbound-number.view.js';

type Answer = Plain<InboundNumberAnswer>;
type Reply = Promise<Outcome<Written<InboundNumber, Answer>>>;

const NO_SUCH_BRAND = {
  code: 'VALIDATION_ERROR',
  field: 'brandId',
  message: 'There is no brand with this id.',
} as const satisfies Refusal;

@Injectable()
export class InboundNumberResource implements AdminResource<InboundNumber, Answer> {
  readonly name = 'inbound-numbers';
  readonly noun = 'inbound number';
  readonly idPrefix = 'num';
  readonly table = INBOUND_NUMBERS;
  readonly view = inboundNumberView;
  readonly refusals = {
    inbound_numbers_number_key: {
      code: 'CONFLICT',
      field: 'number',
      message: 'Another inbound number has this number.',
    },
    inbound_numbers_brand_id_fkey: NO_SUCH_BRAND,
  } as const;

  constructor(private readonly carriers: CarrierStore) {}

  async create(tx: Executor, { number, countries, brandId = null }: InboundNumberDraft): Reply {
    const brand = brandOf(brandId);
    if (!brand.ok) return brand;
    return succeed({ row: await this.carriers.createInboundNumber(tx, { number, countries, brandId: brand.value }) });
  }

  async update(tx: Executor, inbound: InboundNumber, { brandId, ...change }: InboundNumberChange): Reply {
    const brand = brandId === undefined ? succeed(inbound.brandId) : brandOf(brandId);
    if (!brand.ok) return brand;
    const changed = { ...inbound, ...change, brandId: brand.value };
    return succeed({ row: await this.carriers.updateInboundNumber(tx, changed) });
  }

  delete(tx: Executor, { id }: InboundNumber): Promise<void> {
    return this.carriers.deleteInboundNumber(tx, id);
  }
}

function brandOf(sent: string | null): Outcome<Uuid | null> {
  if (sent === null) return succeed(null);
  const brandId = parseId('brd', sent);
  return brandId === null ? { ok: false, refusal: NO_SUCH_BRAND } : succeed(brandId);
}
