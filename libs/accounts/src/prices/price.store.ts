import type { IdSource, Uuid } from '@countersign/ids';
import { requireRow, type Executor } from '@countersign/postgres';
import { DELETE_PRICE, INSERT_PRICE, UPDATE_PRICE } from './price.sql.js';
import type { Price } from './price.js';

export interface NewPrice extends Pick<Price, 'channel' | 'country' | 'usd'> {
  /** Default: now. */
  readonly from?: Date;
}

/** Writes prices, in the caller's transaction. Throws DataError 23505 for two of one channel, country and time. */
export class PriceStore {
  constructor(private readonly ids: IdSource) {}

  async create(tx: Executor, { channel, country, usd, from }: NewPrice): Promise<Price> {
    return requireRow(await tx.query<Price>(INSERT_PRICE, [this.ids.newId(), channel, country, usd, from ?? null]));
  }

  /** Writes amount and start of a locked price. */
  async update(tx: Executor, { id, usd, from }: Price): Promise<Price> {
    return requireRow(await tx.query<Price>(UPDATE_PRICE, [id, usd, from]));
  }

  /** False for an unknown price. */
  async delete(tx: Executor, id: Uuid): Promise<boolean> {
    return (await tx.query(DELETE_PRICE, [id])).length === 1;
  }
}
