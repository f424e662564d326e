import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { CAPPED_ACCOUNT, LOCK_EVERY_COUNTRY_PRICE, PRICE_OF_CODES } from './price.sql.js';

/**
 * Ensures a price of codes for `*` (every country) while any account has a daily spend cap: without one the guard refuses
 * codes of such accounts.
 */
export class CodePrices {
  /** Whether there is such a price now. It is locked until the transaction ends. */
  async lockEveryCountryPrice(tx: Executor): Promise<boolean> {
    return (await tx.query(LOCK_EVERY_COUNTRY_PRICE, [null])).length > 0;
  }

  /**
   * Whether a locked price is the last such price while some account has a cap.
   *
   * @param from its new start, or null when it is to be deleted
   */
  async isLastUnderCap(tx: Executor, id: Uuid, from: Date | null): Promise<boolean> {
    const [priced] = await tx.query<{ everyCountry: boolean; startsInTime: boolean }>(PRICE_OF_CODES, [id, from]);
    if (priced?.everyCountry !== true || priced.startsInTime) return false;
    if ((await tx.query(LOCK_EVERY_COUNTRY_PRICE, [id])).length > 0) return false;
    return (await tx.query(CAPPED_ACCOUNT)).length > 0;
  }
}
